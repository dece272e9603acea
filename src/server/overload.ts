/** The reason of a refusal when too many requests wait; nothing is wrong with the database. */
export class Overload extends Error {
  override readonly name = 'Overload';
}

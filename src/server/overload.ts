/** Why a request is refused that would have been served at another time: too many others are. The database is well. */
export class Overload extends Error {
  override readonly name = 'Overload';
}

/** Commander's `<ID>` and `[TOPIC]` as people read them: `ID`. */
export const withoutBrackets = (text: string): string => text.replaceAll(/[<>]/g, '');

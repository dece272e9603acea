/** What may stand between the cells of a file. */
export const delimiters = { comma: ',', semicolon: ';', tab: '\t', pipe: '|' } as const;

export type Delimiter = keyof typeof delimiters;

export const delimiterNames = ['comma', 'semicolon', 'tab', 'pipe'] as const satisfies readonly Delimiter[];

import type { DeprecationNotice } from './options.ts';

/** Makes a reader of answers' headers that tells `onNotice` once per operation that it is being retired. */
export function noticeOnce(
  onNotice: (notice: DeprecationNotice) => void,
): (operation: string, headers: Headers) => void {
  const told = new Set<string>();
  return (operation, headers) => {
    const deprecated = headers.get('deprecation');
    const sunset = headers.get('sunset');
    if ((deprecated === null && sunset === null) || told.has(operation)) return;
    told.add(operation);
    onNotice({ operation, deprecated, sunset });
  };
}

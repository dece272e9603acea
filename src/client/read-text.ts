/** The longest answer that is read, in bytes. */
export const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

/** The body as text; null when it is longer than {@link MAX_RESPONSE_BYTES}. Rejects when it ends early. */
export async function readText(response: Response): Promise<string | null> {
  if (response.body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.byteLength;
    if (bytes > MAX_RESPONSE_BYTES) return null;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

import { StartupError } from '../../../store/errors.ts';
import { type Languages, withTexts } from './texts.ts';

/** The vendor's settings of the page for customers. */
export interface PageOptions {
  /** Where customers find this server, for links to the page; its own address unless given. */
  readonly publicUrl?: string | undefined;
  /** The vendor's name. */
  readonly name?: string | undefined;
  /** The colour of buttons, as `#0b5fff`. */
  readonly color?: string | undefined;
  /** Texts by language, which replace the built-in texts. */
  readonly texts?: unknown;
}

/** The complete settings of the page. */
export interface PageSettings {
  /** The address of the server for customers, without a slash at the end; null until it is known. */
  url(): string | null;
  readonly name: string;
  readonly color: string;
  readonly languages: Languages;
}

const DEFAULT_COLOR = '#1a5fb4';

/** Checks the vendor's settings. Throws StartupError for an invalid address, colour or text. */
export function readPageOptions(
  { publicUrl, name = '', color = DEFAULT_COLOR, texts }: PageOptions,
  ownUrl: () => string | null,
): PageSettings {
  const address = publicUrl === undefined ? null : URL.parse(publicUrl);
  const isUsable = address !== null && /^https?:$/.test(address.protocol) && address.search + address.hash === '';
  if (publicUrl !== undefined && !isUsable) {
    throw new StartupError(
      `'${publicUrl}' is not the address of a server`,
      'give one such as https://licences.example.com',
    );
  }
  if (!/^#[0-9a-f]{6}$/i.test(color)) throw new StartupError(`'${color}' is not a colour`, 'give one such as #1a5fb4');
  const url = address?.href.replace(/\/+$/, '');
  return { url: () => url ?? ownUrl(), name, color, languages: readTexts(texts) };
}

function readTexts(texts: unknown): Languages {
  try {
    return withTexts(texts);
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw new StartupError(`the texts of the page cannot be used: ${problem}`, 'docs/operating.md shows the form', {
      cause,
    });
  }
}

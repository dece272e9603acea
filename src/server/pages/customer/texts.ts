/** The texts of the page in English, with placeholders in braces. */
const english = {
  title: 'Your licences',
  of: 'Licences of {customer}',
  none: 'There are no licences.',
  more: 'There are more licences than this page shows.',
  key: 'Licence key ending in {end}',
  hiddenKey: 'Licence key',
  usable: 'Valid until {date}',
  endless: 'Does not expire',
  waiting: 'Its time begins with its first use',
  expired: 'Expired on {date}',
  blocked: 'Blocked. Ask {vendor}.',
  revoked: 'Ended by {vendor}',
  devices: 'Devices: {used} of {max}',
  anyDevices: 'Devices: {used}',
  noDevices: 'No device uses this licence.',
  activated: 'In use since {date}',
  seen: 'last used on {date}',
  free: 'Free this device',
  freed: 'The device is freed. Another device can now use the licence.',
  gone: 'Nothing was changed: this device does not use the licence any more.',
  refused: 'Nothing was changed: the devices of this licence cannot be exchanged now.',
  moves: 'Devices that you can still exchange in {year}: {left} of {max}',
  noMoves:
    'You have exchanged all {max} devices that you can exchange in {year}. You can exchange one again from 1 January. Until then, ask {vendor}.',
  noSelfReset: 'To exchange a device, ask {vendor}.',
  anyMoves: 'You can free devices as often as you like.',
  vendor: 'the vendor',
  ends: 'This page is yours alone: whoever has its address can free your devices. The address works until {date} (UTC).',
  invalid: 'This address does not work',
  invalidText: 'It has ended, was withdrawn, or is not complete. Ask for a new one.',
  tooMany: 'Too many requests',
  tooManyText: 'Try again in a minute.',
  failed: 'Something went wrong',
  failedText: 'Nothing was changed. Try again later.',
};

export type Texts = Readonly<Record<keyof typeof english, string>>;

const german: Texts = {
  title: 'Ihre Lizenzen',
  of: 'Lizenzen von {customer}',
  none: 'Es gibt keine Lizenzen.',
  more: 'Es gibt mehr Lizenzen, als diese Seite zeigt.',
  key: 'Lizenzschlüssel mit dem Ende {end}',
  hiddenKey: 'Lizenzschlüssel',
  usable: 'Gültig bis {date}',
  endless: 'Läuft nicht ab',
  waiting: 'Die Laufzeit beginnt mit der ersten Nutzung',
  expired: 'Abgelaufen am {date}',
  blocked: 'Gesperrt. Wenden Sie sich an {vendor}.',
  revoked: 'Durch {vendor} beendet',
  devices: 'Geräte: {used} von {max}',
  anyDevices: 'Geräte: {used}',
  noDevices: 'Kein Gerät nutzt diese Lizenz.',
  activated: 'In Nutzung seit {date}',
  seen: 'zuletzt genutzt am {date}',
  free: 'Dieses Gerät freigeben',
  freed: 'Das Gerät ist freigegeben. Ein anderes Gerät kann die Lizenz jetzt nutzen.',
  gone: 'Es wurde nichts geändert: Dieses Gerät nutzt die Lizenz nicht mehr.',
  refused: 'Es wurde nichts geändert: Die Geräte dieser Lizenz können zurzeit nicht getauscht werden.',
  moves: 'Geräte, die Sie {year} noch tauschen können: {left} von {max}',
  noMoves:
    'Sie haben {year} alle {max} Geräte getauscht, die Sie tauschen können. Ab dem 1. Januar können Sie wieder tauschen. Bis dahin wenden Sie sich an {vendor}.',
  noSelfReset: 'Um ein Gerät zu tauschen, wenden Sie sich an {vendor}.',
  anyMoves: 'Sie können Geräte so oft freigeben, wie Sie möchten.',
  vendor: 'den Anbieter',
  ends: 'Diese Seite ist nur für Sie: Wer ihre Adresse hat, kann Ihre Geräte freigeben. Die Adresse gilt bis {date} (UTC).',
  invalid: 'Diese Adresse gilt nicht',
  invalidText: 'Sie ist abgelaufen, wurde zurückgezogen oder ist nicht vollständig. Fragen Sie nach einer neuen.',
  tooMany: 'Zu viele Anfragen',
  tooManyText: 'Versuchen Sie es in einer Minute noch einmal.',
  failed: 'Etwas ist schiefgegangen',
  failedText: 'Es wurde nichts geändert. Versuchen Sie es später noch einmal.',
};

/** By language (BCP 47). */
export type Languages = Readonly<Record<string, Texts>>;

const given: Languages = { en: english, de: german };

/**
 * Adds the texts of a vendor: `{"fr": {"title": "Vos licences", …}}`. A text that is missing in a language is ours in that
 * language, else in English.
 *
 * @throws RangeError for a value of another form, and for an unknown name of a text
 */
export function withTexts(own: unknown = {}): Languages {
  const languages: Record<string, Texts> = { ...given };
  for (const [language, texts] of Object.entries(membersOf(own, 'the file'))) {
    if (!isLanguage(language)) throw new RangeError(`'${language}' is not a language such as fr or pt-BR`);
    for (const [name, text] of Object.entries(membersOf(texts, language))) {
      if (!Object.hasOwn(english, name)) throw new RangeError(`${language} has the unknown text '${name}'`);
      if (typeof text !== 'string') throw new RangeError(`'${name}' of ${language} is not a text`);
    }
    languages[language] = { ...english, ...given[language], ...(texts as Partial<Texts>) };
  }
  return languages;
}

function isLanguage(name: string): boolean {
  try {
    return Intl.getCanonicalLocales(name)[0] === name;
  } catch {
    return false;
  }
}

function membersOf(value: unknown, name: string): object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new RangeError(`${name} is not an object`);
  }
  return value;
}

/** The language that a reader prefers (RFC 9110 §12.5.4): `de` also serves `de-AT`; else English. */
export function preferredLanguage(acceptLanguage: string, languages: Languages): string {
  const wanted = acceptLanguage
    .split(',')
    .map((part) => {
      const [, tag = '', q = '1'] = /^\s*([a-z0-9-]+)\s*(?:;\s*q=([\d.]+))?/i.exec(part) ?? [];
      return { tag: tag.toLowerCase(), weight: Number(q) };
    })
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight);
  for (const { tag } of wanted) {
    const found = Object.keys(languages).find((name) => [tag, tag.split('-')[0]].includes(name.toLowerCase()));
    if (found !== undefined) return found;
  }
  return 'en';
}

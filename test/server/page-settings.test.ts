import { describe, expect, it } from 'vitest';
import { createRenderer, pageHeaders } from '../../src/server/pages/customer/html.ts';
import { type PageOptions, readPageOptions } from '../../src/server/pages/customer/settings.ts';
import { preferredLanguage, type Texts, withTexts } from '../../src/server/pages/customer/texts.ts';

const read = (options: PageOptions = {}) => readPageOptions(options, () => 'http://127.0.0.1:4747');

describe('the address of the page of customers', () => {
  it.each([
    [undefined, 'http://127.0.0.1:4747'],
    ['https://licences.example.com', 'https://licences.example.com'],
    ['https://example.com/lkm/', 'https://example.com/lkm'],
  ])('is, for %s, %s', (publicUrl, url) => {
    expect(read({ publicUrl }).url()).toBe(url);
  });

  it.each(['licences.example.com', 'ftp://example.com', 'https://example.com/?a', 'https://example.com/#a'])(
    'is not %s',
    (publicUrl) => {
      expect(() => read({ publicUrl })).toThrow(`'${publicUrl}' is not the address of a server`);
    },
  );
});

describe('the colour of its buttons', () => {
  it.each(['blue', '#fff', '#1a5fb4;}', ''])('is not %j', (color) => {
    expect(() => read({ color })).toThrow('is not a colour');
  });

  it.each([
    ['#f5c211', '#000'],
    ['#1a5fb4', '#fff'],
    ['#ffffff', '#000'],
    ['#000000', '#fff'],
  ])('leaves text readable: %s has %s on it', (color, text) => {
    const page = createRenderer(read({ color }), 'en').problem('invalid');
    expect(page).toContain(`color:${text};background:${color}}`);
  });

  it('changes the style that the policy allows', () => {
    const policyOf = (color: string) => pageHeaders(read({ color }))['Content-Security-Policy'];
    expect(policyOf('#f5c211')).not.toBe(policyOf('#1a5fb4'));
  });
});

describe('the texts of the page', () => {
  it('of a vendor take the place of the given ones, and English stands in for what they lack', () => {
    const {
      en,
      fr,
      'de-CH': swiss,
    } = withTexts({
      en: { vendor: 'Ada Soft support' },
      fr: { title: 'Vos licences' },
      'de-CH': { title: 'Ihre Lizenzen' },
    });
    expect(en).toMatchObject({ vendor: 'Ada Soft support', title: 'Your licences' });
    expect(fr).toMatchObject({ title: 'Vos licences', none: 'There are no licences.' });
    expect(swiss?.none).toBe('There are no licences.');
  });

  it.each([
    [[], 'the file is not an object'],
    [{ fr_FR: {} }, "'fr_FR' is not a language"],
    [{ '"><script>': {} }, 'is not a language'],
    [{ fr: 'Vos licences' }, 'fr is not an object'],
    [{ fr: { titel: '' } }, "fr has the unknown text 'titel'"],
    [{ fr: { constructor: '' } }, "fr has the unknown text 'constructor'"],
    [{ fr: { title: 5 } }, "'title' of fr is not a text"],
  ])('are refused: %j', (texts, why) => {
    expect(() => read({ texts })).toThrow(why);
  });

  it('say the same in English and German: each with the same values', () => {
    const { en, de } = withTexts();
    const valuesOf = (texts?: Texts) =>
      Object.entries(texts ?? {}).map(([name, text]) => [name, (text.match(/\{\w+\}/g) ?? []).sort()]);
    expect(valuesOf(de)).toEqual(valuesOf(en));
  });

  it.each([
    ['', 'en'],
    ['de', 'de'],
    ['DE-at', 'de'],
    ['en;q=0.1, de;q=0.9', 'de'],
    ['de;q=0, en', 'en'],
    ['fr, it;q=0.9', 'en'],
    ['pt', 'en'],
    ['pt-br', 'pt-BR'],
    [', ;q=, *', 'en'],
  ])('are, for a browser that asks for %j, in %s', (accepted, language) => {
    expect(preferredLanguage(accepted, withTexts({ 'pt-BR': {} }))).toBe(language);
  });

  it('are written from right to left where the language is, and a vendor may put markup into none', () => {
    const settings = read({ name: 'A & B', texts: { he: { invalid: '<b>{vendor}</b>' } } });
    const page = createRenderer(settings, 'he').problem('invalid');
    expect(page).toContain('<html lang="he" dir="rtl">');
    expect(page).toContain('<h1>&lt;b&gt;A &amp; B&lt;/b&gt;</h1>');
  });
});

import { describe, expect, it } from 'vitest';
import { emailKey, normaliseEmail, searchedEmail } from '../../src/domain/email.ts';

describe('an e-mail address', () => {
  it.each([
    ['It@Ada.Example', 'It@ada.example'],
    ['me@xn--shpware-b1a.example', 'me@shöpware.example'],
    ['me@SHO\u0308PWARE.example', 'me@shöpware.example'],
    ['mu\u0308ller@x.example', 'm\u00fcller@x.example'],
    ['"a@b"@x.example', '"a@b"@x.example'],
    ['a@ex\u00adample.example', 'a@example.example'],
    ['a@straße.example', 'a@straße.example'],
  ])('has one form: %s', (written, form) => {
    expect([normaliseEmail(written), normaliseEmail(form)]).toEqual([form, form]);
  });

  it.each([
    ['IT@ADA.example', 'it@ada.example'],
    ['MÜLLER@x.example', 'mu\u0308ller@X.example'],
  ])('is compared without case: %s', (one, other) => expect(emailKey(one)).toBe(emailKey(other)));

  it('is not compared as dots or tags would have it: providers differ in these', () => {
    const keys = ['ab@x.example', 'a.b@x.example', 'ab+1@x.example'].map(emailKey);
    expect(new Set(keys).size).toBe(3);
  });

  it.each([
    ['a@10.2', 'a@10.2'],
    ['10.2', '10.2'],
    ['xn--shpware-b1a', 'shöpware'],
    ['me@xn--shpware-b1a.example', 'me@shöpware.example'],
    ['e@Sh', 'e@sh'],
  ])('is found by a part of it: %s', (part, form) => expect(searchedEmail(part)).toBe(form));
});

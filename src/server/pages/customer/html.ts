import { hash } from 'node:crypto';
import { MAX_MOVES_PER_YEAR } from '../../../contract/devices.ts';
import type { Instant } from '../../../contract/scalars.ts';
import type { Device } from '../../../domain/license.ts';
import type { CustomerPage, PageKey } from '../../../service/customer-pages.ts';
import type { HttpResponse } from '../../http/messages.ts';
import type { PageSettings } from './settings.ts';
import { preferredLanguage, type Texts } from './texts.ts';

/** The message above the keys. */
type Notice = 'freed' | 'gone' | 'refused';

/** A page that shows no keys. */
type Problem = 'invalid' | 'tooMany' | 'failed';

type Values = Readonly<Record<string, string | number>>;

interface Shown {
  readonly page: CustomerPage;
  readonly expiresAt: Instant;
  readonly now: Instant;
  readonly notice: Notice | null;
  /** The token of the form that frees a device. */
  formToken(deviceId: string): string;
}

/** The languages that are written from right to left. */
const RIGHT_TO_LEFT = /^(ar|dv|fa|he|ps|sd|ug|ur|yi)\b/;

/** Makes the pages for a reader of these languages (`Accept-Language`). */
export function createRenderer(settings: PageSettings, acceptLanguage: string) {
  const language = preferredLanguage(acceptLanguage, settings.languages);
  const texts = settings.languages[language] as Texts;
  const vendor = settings.name || texts.vendor;
  const say = (name: keyof Texts, values: Values = {}): string =>
    escapeHtml(texts[name].replace(/\{(\w+)\}/g, (whole, value: string) => String(known(values)[value] ?? whole)));
  const known = (values: Values): Values => ({ vendor, ...values });
  const dateOf = (at: string) =>
    new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(at));
  const timeOf = (at: string) =>
    new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(new Date(at));

  function document(title: string, main: string): string {
    const direction = RIGHT_TO_LEFT.test(language) ? 'rtl' : 'ltr';
    return `<!doctype html>
<html lang="${language}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}${settings.name && ` · ${escapeHtml(settings.name)}`}</title>
<link rel="icon" href="data:,">
<style>${styleOf(settings.color)}</style>
</head>
<body>
${settings.name && `<header>${escapeHtml(settings.name)}</header>`}
<main>
<h1>${title}</h1>
${main}
</main>
</body>
</html>
`;
  }

  function termOf({ state, expirationDate }: PageKey): string {
    if (state === 'usable' && expirationDate === null) return say('endless');
    return say(state, { date: expirationDate === null ? '' : dateOf(expirationDate) });
  }

  function movesOf({ movesLeft: left, isOfVendor, devices }: PageKey, now: Instant): string {
    if (devices.length === 0 && left !== 0) return '';
    if (isOfVendor) return say('noSelfReset');
    const values = { year: now.slice(0, 4), max: MAX_MOVES_PER_YEAR };
    return left === null ? say('anyMoves') : left === 0 ? say('noMoves', values) : say('moves', { ...values, left });
  }

  function deviceItem(key: PageKey, device: Device, formToken: Shown['formToken']): string {
    const { id, deviceTag, hostId, activationTime, lastSeenOn } = device;
    const name = escapeHtml(deviceTag ?? hostId);
    const seen = lastSeenOn === null ? '' : ` · ${say('seen', { date: dateOf(lastSeenOn) })}`;
    const times = say('activated', { date: dateOf(activationTime) }) + seen;
    const button = `<form method="post" action="?"><input type="hidden" name="key" value="${escapeHtml(key.id)}"><input type="hidden" name="device" value="${escapeHtml(id)}"><input type="hidden" name="form" value="${formToken(id)}"><button aria-label="${say('free')}: ${name}">${say('free')}</button></form>`;
    return `<li><p><strong><bdi>${name}</bdi></strong><br>${times}</p>${key.mayFree ? button : ''}</li>`;
  }

  function section(key: PageKey, { now, formToken }: Shown, at: number): string {
    const { devices, end, maxActivations, product } = key;
    const used = devices.length;
    const heading =
      maxActivations === null ? say('anyDevices', { used }) : say('devices', { used, max: maxActivations });
    const isUnused = key.state === 'expired' && used === 0;
    const moves = isUnused || key.state === 'blocked' || key.state === 'revoked' ? '' : movesOf(key, now);
    return `<article aria-labelledby="key-${at}">
<h2 id="key-${at}"><bdi>${escapeHtml(product)}</bdi></h2>
<p>${end === '' ? say('hiddenKey') : say('key', { end })}<br>${termOf(key)}</p>
<h3>${heading}</h3>
${used === 0 ? `<p>${say('noDevices')}</p>` : `<ul>${devices.map((device) => deviceItem(key, device, formToken)).join('\n')}</ul>`}
${moves && `<p>${moves}</p>`}
</article>`;
  }

  return {
    problem: (problem: Problem): string => document(say(problem), `<p>${say(`${problem}Text`)}</p>`),
    keys: (shown: Shown): string =>
      document(
        say('title'),
        [
          shown.notice === null ? '' : `<p role="status">${say(shown.notice)}</p>`,
          `<p>${say('of', { customer: shown.page.customer })}</p>`,
          shown.page.keys.length === 0 ? `<p>${say('none')}</p>` : '',
          ...shown.page.keys.map((key, at) => section(key, shown, at)),
          shown.page.hasMore ? `<p>${say('more')}</p>` : '',
          `<p class="end">${say('ends', { date: timeOf(shown.expiresAt) })}</p>`,
        ].join('\n'),
      ),
  };
}

/** Allows no scripts, no frames and no content from elsewhere, and hides the address of the page from caches and other sites. */
export const pageHeaders = ({ color }: PageSettings): HttpResponse['headers'] => ({
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${hash('sha256', styleOf(color), 'base64')}'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex',
});

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] as string);

const styleOf = (color: string): string => `
:root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere;color:light-dark(#1b1b1f,#f0f0f4);background:light-dark(#fff,#17181c)}
body{max-width:42rem;margin:0 auto;padding:1rem}
header{font-weight:600;padding-block-end:.5rem;border-block-end:.25rem solid ${color}}
h1{font-size:1.5rem}h2{font-size:1.25rem;margin:0}h3{font-size:1rem;margin-block-end:0}
article{border:1px solid light-dark(#c4c4cc,#4a4b54);border-radius:.5rem;padding:1rem;margin-block:1rem}
ul{list-style:none;padding:0;margin:0}
li{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;justify-content:space-between;padding-block:.25rem;border-block-start:1px solid light-dark(#e2e2e8,#34353c)}
li p{margin-block:.75rem;min-width:0}
button{font:inherit;min-height:2.75rem;padding:.25rem 1rem;border:1px solid currentcolor;border-radius:.375rem;color:${readableOn(color)};background:${color}}
:focus-visible{outline:3px solid light-dark(#1b1b1f,#f0f0f4);outline-offset:2px}
[role=status]{border-inline-start:.25rem solid ${color};padding:.5rem 1rem;background:light-dark(#f1f1f5,#24252b)}
.end{color:light-dark(#55555e,#b6b6c0)}`;

/** Black or white, whichever stands out more from a colour (WCAG 2.2, relative luminance): at least 4.5 to 1. */
function readableOn(color: string): string {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? '#000' : '#fff';
}

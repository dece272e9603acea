/** What was kept of earlier screens, by name. */
export type Known = Readonly<Record<string, string>>;

type Line = string | ((known: Known) => string);

export interface Step {
  readonly type: Line;
  /** What is asked then, and what is answered; an empty text is Enter alone. */
  readonly asked?: readonly (readonly [question: RegExp, answer: Line, chosen?: RegExp])[];
  readonly shows: readonly (string | RegExp)[];
  readonly exitCode?: number;
  /** What of the screen later tasks need: the first group, or all of the match. */
  readonly keep?: Readonly<Record<string, RegExp>>;
}

export interface Task {
  readonly title: string;
  /** What applications and customers did before. */
  readonly given?: Line;
  readonly steps: readonly Step[];
  /** A file is read first as it is, then as the error says. */
  readonly isBulk?: boolean;
}

const KEY = /^[0-9A-Z]{5}(?:-[0-9A-Z]{5}){4}$/m;

/** The shown end of a key. */
const end = (key: string | undefined): string => String(key).slice(-5);

/** What a person in support does on a day, and what the terminal shows of it. Install, upgrade and remove: docs/install.md. */
export const tasks: readonly Task[] = [
  {
    title: 'log in',
    steps: [
      { type: 'lkm keys list', shows: ['Log in:', 'lkm login --base-url URL'], exitCode: 2 },
      {
        type: ({ address }) => `lkm login --base-url ${address}`,
        asked: [[/token for .*:/, ({ token }) => `${token}`]],
        shows: ['logged in to http://127.0.0.1:', 'do everything'],
      },
    ],
  },
  {
    title: 'make a product',
    steps: [{ type: 'lkm products create "Engine Pro"', shows: [/^prod_\w{26}$/m, 'created Engine Pro'] }],
  },
  {
    title: 'make two plans',
    steps: [
      {
        type: 'lkm plans create Yearly -P "Engine Pro" --lasts 1y --max-activations 2',
        shows: [/^plan_\w{26}$/m, 'created Yearly'],
      },
      {
        type: 'lkm plans create Team -P "Engine Pro" --type floating --max-sessions 2 --lasts 1y',
        shows: ['created Team'],
      },
    ],
  },
  {
    title: 'issue a key for a new customer',
    steps: [
      {
        type: 'lkm keys create -P "Engine Pro" --plan Yearly --new-customer-name "Müller & Söhne" --new-customer-email it@mueller.example',
        shows: [KEY, 'created'],
        keep: { key: KEY },
      },
    ],
  },
  {
    title: 'issue a second one for the same customer, by half of the name',
    steps: [
      {
        type: 'lkm keys create -P "Engine Pro" --plan Yearly --customer söhne --metadata order=A-1042',
        asked: [[/no customer is called 'söhne': which is meant\?[\s\S]*Müller & Söhne/, '']],
        shows: [KEY, 'created'],
        keep: { second: KEY },
      },
    ],
  },
  {
    title: 'free the slot of a laptop that is lost',
    given: ({ key }) =>
      `lkm keys activate ${key} --host-id laptop-anna && lkm keys activate ${key} --host-id laptop-bob`,
    steps: [
      {
        type: ({ key }) => `lkm keys deactivate ${end(key)}`,
        asked: [[/which device\?[\s\S]*laptop-anna[\s\S]*laptop-bob/, 'bob', /^❯ laptop-bob/m]],
        shows: ['freed laptop-bob'],
      },
    ],
  },
  {
    title: 'give a key a year more',
    steps: [{ type: ({ key }) => `lkm keys renew ${end(key)} 1y`, shows: [/^renewed · expires 20\d\d-\d\d-\d\d/m] }],
  },
  {
    title: 'note the new address of a customer',
    steps: [
      {
        type: 'lkm customers update it@mueller.example --email keys@mueller.example',
        shows: ['keys@mueller.example', 'updated'],
      },
    ],
  },
  {
    title: 'find a customer without the accents, and see keys and devices',
    steps: [
      {
        type: 'lkm find muller',
        shows: ['Müller & Söhne, keys@mueller.example'],
        keep: { shownBy: /lkm customers get \S+/, customer: /cus_\w+/ },
      },
      {
        type: ({ shownBy }) => `${shownBy}`,
        shows: ['KEY', 'Engine Pro', 'HOST ID', 'laptop-anna', 'WHAT', 'license.renewed'],
      },
    ],
  },
  {
    title: 'find a key by its last five characters',
    steps: [
      { type: ({ key }) => `lkm find ${end(key)}`, shows: ['Müller & Söhne', /lkm keys get \S+/] },
      {
        type: ({ key }) => `lkm keys get ${end(key)}`,
        shows: ['Müller & Söhne <keys@mueller.example>', 'laptop-anna'],
      },
    ],
  },
  {
    title: 'refund an order by its number, with the reason',
    steps: [
      { type: 'lkm find A-1042', shows: ['metadata order=A-1042'], keep: { refunded: /lkm keys get (\S+)/ } },
      {
        type: ({ refunded }) => `lkm keys revoke ${refunded} --reason "refund of A-1042"`,
        asked: [[/type \w+ to confirm:/, ({ refunded }) => end(refunded)]],
        shows: ['revoked'],
      },
    ],
  },
  {
    title: 'undo a block that was a mistake',
    given: ({ key }) => `lkm keys block ${key}`,
    steps: [{ type: ({ key }) => `lkm keys unblock ${end(key)}`, shows: ['unblocked'] }],
  },
  {
    title: 'replace a key that leaked, and let the old one work for a week',
    steps: [
      {
        type: ({ key }) => `lkm keys reissue ${end(key)}`,
        shows: [KEY, /reissued · the old key works until \d/],
        keep: { key: KEY },
      },
    ],
  },
  {
    title: 'give all keys of one customer to another',
    given: 'lkm customers create "Étienne SARL"',
    steps: [
      {
        type: 'lkm keys transfer --from-customer keys@mueller.example --customer "Étienne SARL"',
        asked: [[/without 1 revoked key[\s\S]*transfer 1 key of Müller & Söhne to Étienne SARL\? \(y\/N\)/, 'y']],
        shows: ['transferred'],
      },
    ],
  },
  {
    title: 'make a licence file for a device that is offline',
    steps: [
      {
        type: ({ key }) => `lkm keys sign ${end(key)} --host-id pc-7 -o pc-7.lic`,
        shows: ['wrote pc-7.lic · for pc-7'],
      },
      { type: 'lkm keys verify pc-7.lic --host-id pc-7', shows: [/^ok$/m, 'for pc-7 · expires '] },
    ],
  },
  {
    title: 'answer a device without a network',
    given: ({ key }) => `lkm keys deactivate ${key} --host-id laptop-anna`,
    steps: [
      {
        type: ({ key }) => `lkm offline request ${key} --host-id pc-9 --device-key pc-9.pem -o pc-9.json`,
        shows: ['wrote pc-9.json, for lkm offline answer'],
      },
      { type: 'lkm offline answer pc-9.json -o pc-9.lic', shows: ['wrote pc-9.lic · for pc-9'] },
    ],
  },
  {
    title: 'release a device without a network',
    steps: [
      {
        type: 'lkm offline release pc-9.lic --device-key pc-9.pem -o pc-9.proof',
        shows: ['wrote pc-9.proof, for lkm offline accept'],
      },
      { type: 'lkm offline accept pc-9.proof', shows: ['freed pc-9'] },
    ],
  },
  {
    title: 'issue 200 keys from a file of a German Excel, into a file that can be mailed',
    isBulk: true,
    steps: [
      {
        type: 'lkm keys create -P "Engine Pro" -f orders.csv -o keys.csv',
        shows: ['has 201 problems; nothing was sent', '--date-format dmy', `--map 'Anzahl PCs=FIELD'`],
        exitCode: 2,
      },
      {
        type: `lkm keys create -P "Engine Pro" -f orders.csv -o keys.csv --date-format dmy --map "Anzahl PCs=maxActivations"`,
        shows: ['orders.csv is read as windows-1252', 'issued 200 of 200 keys'],
      },
      {
        type: 'head -2 keys.csv',
        shows: [
          /^Bestellnummer;Kunde;E-Mail;Gültig bis;Anzahl PCs;status;key;error$/m,
          /^B-0001;Größe 1 GmbH;.*;issued;/m,
        ],
      },
    ],
  },
  {
    title: 'list the keys that end next month, with names and addresses, for the sales team',
    given: ({ customer }) => `lkm keys create -P 'Engine Pro' --customer ${customer} --expires 20d`,
    steps: [
      { type: 'lkm keys list --status expiring', shows: [/^[0-9A-Z]{5}(?:-[0-9A-Z]{5}){4} /m, 'Müller & Söhne'] },
      {
        type: 'lkm keys list --status expiring -o sales.csv && cat sales.csv',
        shows: [/Müller & Söhne,keys@mueller\.example/],
      },
    ],
  },
  {
    title: 'see who changed a key, when, from what to what',
    steps: [
      {
        type: ({ key }) => `lkm keys history ${end(key)}`,
        shows: [
          'WHEN',
          'WHAT',
          'ABOUT',
          'BY',
          /license\.renewed +20\d\d-[\s\S]*→/,
          'license.transferred',
          'license.reissued',
        ],
      },
    ],
  },
  {
    title: 'see who issued most keys last week',
    steps: [{ type: 'lkm stats --by token --since 7d', shows: [/^first admin token +2\d\d$/m] }],
  },
  {
    title: 'see who did what',
    steps: [{ type: 'lkm audit list --last 5', shows: [/ WHEN +WHO +WHAT +ON$/m, 'keys.create'] }],
  },
  {
    title: 'make a token for a colleague in support',
    steps: [
      {
        type: 'lkm tokens create --role support --name "Erika Support"',
        shows: [/^lkm_scoped_\w+$/m, 'it helps customers', 'keep it now: it is not shown again'],
      },
    ],
  },
  {
    title: 'make a token for a shop',
    steps: [{ type: 'lkm tokens create --role sales --name shop', shows: [/^lkm_scoped_\w+$/m, 'it sells'] }],
  },
  {
    title: 'make a token for a CI job',
    steps: [
      {
        type: 'lkm tokens create --role ci --name nightly -P "Engine Pro"',
        shows: [/^lkm_scoped_\w+$/m, 'it issues and'],
      },
    ],
  },
  {
    title: 'exchange the token of the shop, by its name',
    steps: [{ type: 'lkm tokens rotate shop', shows: [/^lkm_scoped_\w+$/m, /works until 20/] }],
  },
  {
    title: 'see whose session a stuck floating licence has, and end it',
    given: ({ customer }) =>
      `lkm keys checkout $(lkm keys create -P 'Engine Pro' --plan Team --customer ${customer}) --host-id desk-1 --user karl`,
    steps: [
      { type: 'lkm sessions list', shows: ['desk-1', 'karl', 'Müller & Söhne'] },
      { type: 'lkm sessions release karl', shows: [/^released ses_\w+/m] },
    ],
  },
  {
    title: 'start a trial',
    steps: [
      { type: 'lkm plans create Trial -P "Engine Pro" --trial true --lasts 14d', shows: ['created Trial'] },
      {
        type: 'lkm keys trial -P "Engine Pro" --plan Trial --host-id demo-1',
        shows: [KEY, 'trial started on demo-1 · expires '],
      },
    ],
  },
  {
    title: 'back up, and restore beside',
    steps: [
      { type: ({ db }) => `lkm db backup safe.db --db ${db}`, shows: ['backed up'] },
      { type: 'lkm db restore safe.db --db beside.db', shows: ['restored'] },
    ],
  },
  {
    title: 'read the numbers of the month',
    steps: [
      { type: 'lkm stats', shows: ['keys by product', /^Engine Pro +2\d\d /m, 'issued per week', 'next to expire'] },
    ],
  },
  {
    title: 'set up a webhook, and see it arrive',
    steps: [
      { type: ({ receiver }) => `lkm webhooks create ${receiver}`, shows: [/^whsec_\S+$/m, 'keep it now'] },
      { type: ({ receiver }) => `lkm webhooks test ${receiver}`, shows: [/^state +delivered$/m] },
    ],
  },
  {
    title: 'learn why an activation was refused, and mend it',
    given: ({ key }) => `lkm keys block ${key}`,
    steps: [
      {
        type: ({ key }) => `lkm keys why ${end(key)} --host-id new-1`,
        shows: ['✗ enabled', 'activate would be refused'],
        exitCode: 1,
        keep: { fix: /Enable it: +(lkm keys unblock \S+)$/m },
      },
      { type: ({ fix }) => `${fix}`, shows: ['unblocked'] },
    ],
  },
  {
    title: 'give the same order one key in CI',
    steps: [
      {
        type: 'lkm keys create -P "Engine Pro" --reference order-7 --if-absent',
        shows: [KEY, 'created'],
        keep: { ordered: KEY },
      },
      {
        type: 'lkm keys create -P "Engine Pro" --reference order-7 --if-absent',
        shows: [KEY, 'order-7 has this key already; nothing was created'],
        keep: { again: KEY },
      },
    ],
  },
];

import { type HelpView, plainHelp, prose, rows } from './section.ts';

const commands = [
  ['keys create --count N', 'N keys of a kind'],
  ['keys create -f FILE', 'a key for each row'],
  ['keys import -f FILE', 'keys of another system, as keys export writes them'],
  ['keys update|renew|block -f FILE', 'changes of the keys of a file'],
  ['customers create -f FILE', 'a customer for each row'],
] as const;

/** The help on bulk commands: one command, many requests. */
export const bulk = (view: HelpView = plainHelp): string =>
  [
    rows(commands, view),
    prose(
      [
        'A file is CSV with a header (comma, semicolon, tab or pipe), JSON lines or a JSON array; - is stdin. Columns are ' +
          'named as the options or as the service names them; --map "Order No=reference" names others, and ' +
          '--map "Note=" leaves one out. Options hold for every row that says nothing else. --dry-run shows every ' +
          'problem of the file at once, with lines, and the first 1 000 of more; a file with problems is not sent at all. ' +
          'However long it is, it is never in memory as a whole.',
        'Each row is processed exactly once, even if the command or the service is killed. Type the same command again: ' +
          'it sends what is open, and in the end prints the same results without sending anything. What makes it the same ' +
          'are the options, the address of the service and the bytes of the file, on any machine for a day: always name a ' +
          'service by the same address. --run NAME tells runs apart that do the same on purpose.',
        '  lkm keys create -P prod_… -f orders.csv -o keys.csv',
        'A row that is refused does not stop the others; then the exit code is 12. A corrected file is another run, so put ' +
          'only the failed rows into it, or send them again as they are:',
        '  lkm jobs show ID --failed --format csv > failed.csv\n  lkm jobs retry ID',
        'A file that has grown since its run is refused, unless each row has a reference: its first rows would be done again. ' +
          'Put the new rows into a file of their own, or say --run NAME when all of them are meant.',
        'Columns customerName and customerEmail name the customer of each row: the one who has the address is found, or ' +
          'made before the row is sent, once, however many orders they have. --dry-run says who is there and who ' +
          'would be made.',
        'A column reference protects beyond files and days: there is one key for each, for ever. With --if-absent the ' +
          'one that exists is printed.',
        'Rows go several at a time, fewer where the service asks to slow down; --concurrency N is the most, --max-wait how ' +
          'long one wait may be (10m).',
      ],
      view,
    ),
  ].join('\n');

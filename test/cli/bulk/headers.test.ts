import { describe, expect, it } from 'vitest';
import { createCustomers } from '../../../src/cli/bulk/operations/create-customers.ts';
import { createKeys } from '../../../src/cli/bulk/operations/create-keys.ts';
import { importKeys } from '../../../src/cli/bulk/operations/import-keys.ts';
import { findColumn } from '../../../src/cli/bulk/reading/columns.ts';
import { bulkShop } from './bulk-shop.ts';

const operations = { createCustomers, createKeys, importKeys };

describe('a header', () => {
  it.each<[keyof typeof operations, string, string]>([
    ['importKeys', 'Lizenzschlüssel', 'key'],
    ['importKeys', 'LIZENZSCHLUESSEL', 'key'],
    ['importKeys', 'Clé de licence', 'key'],
    ['importKeys', 'cle_de_licence', 'key'],
    ['importKeys', 'Clave de licencia', 'key'],
    ['importKeys', 'Erstellt am', 'createdAt'],
    ['importKeys', 'Geräte', 'devices'],
    ['importKeys', 'Bloqué', 'vendorDisabled'],
    ['importKeys', 'Société', 'customerName'],
    ['createKeys', 'Bestellnummer', 'reference'],
    ['createKeys', 'N° de commande', 'reference'],
    ['createKeys', 'Número de pedido', 'reference'],
    ['createKeys', 'Order No.', 'reference'],
    ['createKeys', 'Gültig bis', 'expirationDate'],
    ['createKeys', 'Date d’expiration', 'expirationDate'],
    ['createKeys', 'Fecha de caducidad', 'expirationDate'],
    ['createKeys', 'Plätze', 'maxActivations'],
    ['createKeys', 'Kunde', 'customerName'],
    ['createKeys', 'E-Mail', 'customerEmail'],
    ['createKeys', 'Correo electrónico', 'customerEmail'],
    ['createKeys', 'Produkt', 'productId'],
    ['createCustomers', 'Nombre', 'name'],
    ['createCustomers', 'Courriel', 'email'],
  ])('of %s: %j is %s', (operation, header, name) => {
    expect(findColumn(operations[operation].columns, header)?.name).toBe(name);
  });

  it.each(['Farbe', 'Quantité', 'constructor', '__proto__', 'Order.No'])('is not guessed: %j', (header) => {
    expect(findColumn(createKeys.columns, header)).toBeNull();
  });

  it('of a German machine is read with all else that Excel writes there', async () => {
    await using shop = await bulkShop();
    shop.write(
      'orders.csv',
      Buffer.from(
        'Bestellnummer;Kunde;E-Mail;Plätze;Gültig bis\r\n4711;Müller GmbH;info@mueller.example;3;31.12.2027\r\n',
        'latin1',
      ),
    );
    const argv = ['keys', 'create', '-f', 'orders.csv'];
    expect((await shop.at(argv)).stderr).toContain('\n  dates such as 31.12.2027 are read with --date-format dmy\n');
    const { code, stdout } = await shop.at([...argv, '--date-format', 'dmy', '--format', 'csv']);
    expect([code, stdout.split('\n')[0]]).toEqual([
      0,
      '\ufeffBestellnummer;Kunde;E-Mail;Plätze;Gültig bis;status;key;error',
    ]);
    const [{ key }] = await shop.keys();
    expect(await shop.json('keys', 'get', key)).toMatchObject({
      license: { reference: '4711', maxActivations: 3, expirationDate: '2027-12-31T23:59:59.000Z' },
      customer: { name: 'Müller GmbH', email: 'info@mueller.example' },
    });
  });
});

describe('--save-map', () => {
  it('keeps how a file is read; with --map-from it is the same run, and issues no key again', async () => {
    await using shop = await bulkShop();
    shop.write('orders.csv', 'Sitze;Bis\n3;31.12.2027\n4;01.01.2028\n');
    const how = ['--map', 'Sitze=maxActivations', '--map', 'Bis=expirationDate', '--date-format', 'dmy'];
    const argv = ['keys', 'create', '-f', 'orders.csv', '--format', 'csv'];
    const first = await shop.at([...argv, ...how, '--save-map', 'shop']);
    expect(first.code).toBe(0);
    expect(await shop.at([...argv, '--map-from', 'shop'])).toMatchObject({ code: 0, stdout: first.stdout });
    expect(await shop.keys()).toHaveLength(2);
    shop.write('next.csv', 'Sitze;Bis;Note\n5;31.01.2028;x\n');
    const next = ['keys', 'create', '-f', 'next.csv', '--map-from', 'shop'];
    expect((await shop.at(next)).stderr).toContain("column 'Note'");
    expect((await shop.at([...next, '--map', 'Note='])).code).toBe(0);
    const limits = (await shop.keys()).map(({ maxActivations }: { maxActivations: number }) => maxActivations);
    expect(limits.sort()).toEqual([3, 4, 5]);
  });

  it('is told what is wrong with a name or a file', async () => {
    await using shop = await bulkShop();
    shop.write('orders.csv', 'reference\no-1\n');
    const argv = ['keys', 'create', '-f', 'orders.csv', '--map-from'];
    expect(await shop.at([...argv, 'none'])).toMatchObject({
      code: 2,
      stderr: 'error: no mapping is called none: --save-map none keeps one\n',
    });
    expect(await shop.at([...argv, '../x'])).toMatchObject({ code: 2 });
  });
});

describe('--ignore-unknown', () => {
  it('leaves out columns that are no field, and lists them', async () => {
    await using shop = await bulkShop();
    shop.write('orders.csv', 'reference,Colour,Size\no-1,red,L\n');
    const argv = ['keys', 'create', '-f', 'orders.csv', '--expires', 'never'];
    expect((await shop.at(argv)).stderr).toContain('--ignore-unknown leaves out all columns that are no known field\n');
    const { code, stderr } = await shop.at([...argv, '--ignore-unknown', '--map', 'Size=metadata.size']);
    expect([code, stderr]).toEqual([0, expect.stringContaining('warning: columns left out: Colour\n')]);
    expect((await shop.keys())[0].metadata.size).toBe('L');
  });
});

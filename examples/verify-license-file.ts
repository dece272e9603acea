import { readFile } from 'node:fs/promises';
import { verifyLicenseFile } from 'lkm/license-file';

//   npx node examples/verify-license-file.ts FILE JWKS HOST_ID
//
// What an application does when it starts: reads the licence file beside it and looks at the verdict. No network is
// involved; the public keys ship with the application.

const [file = 'app.lic', jwks = 'jwks.json', hostId = 'build-01'] = process.argv.slice(2);

const { verdict, claims } = verifyLicenseFile(await readFile(file, 'utf8'), {
  keys: JSON.parse(await readFile(jwks, 'utf8')).keys,
  hostId,
});

if (verdict === 'ok') console.log(`licensed for ${claims?.machine}`);
else console.error(`not licensed: ${verdict}`);
process.exitCode = verdict === 'ok' ? 0 : 1;

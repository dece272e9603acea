import { toOpenApi } from '../src/contract/openapi/openapi.ts';

process.stdout.write(`${JSON.stringify(toOpenApi(), null, 2)}\n`);

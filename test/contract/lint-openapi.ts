import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConfig, lint } from '@redocly/openapi-core';
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core';
import { oas } from '@stoplight/spectral-rulesets';

/*
 * Checks docs/openapi.json with the recommended rules of Spectral and of Redocly, and prints what they find, warnings
 * too. Ends with status 1 when there is anything. Needs no network.
 */

const path = join(import.meta.dirname, '../../docs/openapi.json');
const findings = [...(await runSpectral()), ...(await runRedocly())];
for (const finding of findings) process.stdout.write(`${finding}\n`);
process.stdout.write(`docs/openapi.json: ${findings.length} findings of Spectral and Redocly\n`);
process.exitCode = findings.length === 0 ? 0 : 1;

async function runSpectral(): Promise<string[]> {
  const spectral = new spectralCore.Spectral();
  spectral.setRuleset(oas as RulesetDefinition);
  const results = await spectral.run(JSON.parse(readFileSync(path, 'utf8')));
  return results.map(({ code, path, message }) => `spectral ${code} at ${path.join('/')}: ${message}`);
}

async function runRedocly(): Promise<string[]> {
  const results = await lint({ ref: path, config: await createConfig({ extends: ['recommended'] }) });
  return results.map(({ ruleId, message, location }) => {
    return `redocly ${ruleId} at ${location.map(({ pointer }) => pointer).join(', ')}: ${message}`;
  });
}

import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { configDir, writeAtomically } from '../../config/files.ts';
import type { CommandContext } from '../../context.ts';
import { UsageError } from '../../failure/errors.ts';
import { dateFormats } from '../../values/date-format.ts';
import { readLocalFile } from '../../values/files.ts';
import { delimiterNames, parseMapping } from '../options.ts';
import type { BulkRequest } from '../request.ts';

/** The options about reading a file, as typed. */
const SavedMap = z.object({
  map: z.array(z.string()).default([]),
  noDate: z.array(z.string()).optional(),
  dateFormat: z.enum(dateFormats).optional(),
  delimiter: z.enum(delimiterNames).optional(),
  encoding: z.string().optional(),
});

/**
 * Adds the options that `--map-from` names, which the command line overrides, and keeps them under the name of `--save-map`. The
 * returned `written` identifies the run: the same with saved and with typed options. Throws `UsageError`, or `LocalError`.
 */
export function withSavedMap(given: BulkRequest, { io, written }: CommandContext) {
  const { mapFrom, saveMap } = given;
  const saved = mapFrom === undefined ? { map: [] } : readMap(mapFrom, fileOf(mapFrom, io), io);
  const { map = [], noDate, dateFormat, delimiter, encoding } = written;
  const maps = [...saved.map, ...[map].flat()].map(String);
  const kept = { map: maps.length === 0 ? undefined : maps, noDate, dateFormat, delimiter, encoding };
  const { map: _, ...others } = saved;
  const whole = { ...others, ...Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined)) };
  if (saveMap !== undefined) {
    const path = fileOf(saveMap, io);
    mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
    writeAtomically(path, `${JSON.stringify(whole, null, 2)}\n`, 0o600, io);
  }
  if (mapFrom === undefined) return { request: given, written };
  const request: BulkRequest = {
    ...given,
    map: maps.map(parseMapping),
    noDate: given.noDate ?? others.noDate,
    dateFormat: given.dateFormat ?? others.dateFormat,
    delimiter: given.delimiter ?? others.delimiter,
    encoding: given.encoding ?? others.encoding,
  };
  return { request, written: { ...written, ...whole } };
}

const fileOf = (name: string, io: CommandContext['io']): string => join(configDir(io), 'maps', `${name}.json`);

function readMap(name: string, path: string, io: CommandContext['io']) {
  if (!existsSync(path)) throw new UsageError(`no mapping is called ${name}: --save-map ${name} keeps one`);
  try {
    return SavedMap.parse(JSON.parse(readLocalFile(path, io)));
  } catch (cause) {
    throw new UsageError(`${path} is damaged: remove it, and keep the mapping anew with --save-map`, [], { cause });
  }
}

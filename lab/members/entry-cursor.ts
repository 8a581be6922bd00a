import { UserError } from '../../base/runtime/index.js'

/** A place in the journals of several processes: of each, by the number of its stream, the id of the last entry before. */
export type EntryCursor = ReadonlyMap<number, number>

/** `3.120_7.45`: no character of it is escaped in a query or a header. */
export const cursorText = (cursor: EntryCursor): string =>
  cursor.size === 0 ? '0' : [...cursor].map(([stream, id]) => `${stream}.${id}`).join('_')

const CURSOR = /^\d{1,10}\.\d{1,15}(?:_\d{1,10}\.\d{1,15})*$/

/**
 * Reads a cursor; `0` is the place before all entries.
 *
 * @param name of the query's member or header, for errors
 * @throws UserError `bad-request` for the id of an entry, which is of one process
 */
export function readCursor(text: string, name: string): EntryCursor {
  if (/^0+$/.test(text)) return new Map()
  if (!CURSOR.test(text))
    throw new UserError('bad-request', `${name} is ${JSON.stringify(text)}, and several processes have this journal`, {
      kind: 'usage',
      remedy: 'send the cursor of an entry in the place of its id, which is of one process; 0 is the beginning',
    })
  return new Map(
    text.split('_').map((place): [number, number] => {
      const [stream = '', id = ''] = place.split('.')
      return [Number(stream), Number(id)]
    }),
  )
}

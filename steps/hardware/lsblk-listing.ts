import { UserError } from '../../base/runtime/index.js'
import { schemaCheck, type SchemaCheck } from '../../base/schemas/index.js'

/** A row of lsblk. */
export interface ListedRow {
  kname: string
}

type LsblkSchema = Record<string, unknown>

/**
 * Makes a parser of `lsblk --json`.
 *
 * @param row schema of a row, without its kernel name and children
 * @throws UserError from the parser, for any other text
 */
export function lsblkListing<R extends ListedRow>(row: {
  required?: readonly string[]
  properties?: LsblkSchema
  additionalProperties?: LsblkSchema
}): (json: string) => R[] {
  const listing: SchemaCheck<{ blockdevices: R[] }> = schemaCheck({
    type: 'object',
    required: ['blockdevices'],
    properties: { blockdevices: { $ref: '#/$defs/rows' } },
    $defs: {
      rows: {
        type: 'array',
        items: {
          type: 'object',
          ...row,
          required: ['kname', ...(row.required ?? [])],
          properties: { ...row.properties, kname: { type: 'string' }, children: { $ref: '#/$defs/rows' } },
        },
      },
    },
  })
  return (json) => {
    const value = parseLsblkJson(json)
    if (!listing.accepts(value)) throw new UserError('lsblk-unreadable', 'the output of lsblk has an unknown form')
    return value.blockdevices
  }
}

function parseLsblkJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch (cause) {
    throw new UserError(
      'lsblk-unreadable',
      'the output of lsblk is not JSON; lsblk may be older than util-linux 2.27',
      {
        cause,
      },
    )
  }
}

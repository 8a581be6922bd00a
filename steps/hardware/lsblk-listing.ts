import { UserError } from '../../runtime/index.js'
import { schemaCheck, type SchemaCheck } from '../sdk/schema-check.js'

/** A row as lsblk prints it, with what stands below it. */
export interface ListedRow {
  kname: string
}

type Schema = Record<string, unknown>

/**
 * Reads `lsblk --json`.
 *
 * @param row what a row must have, beside its kernel name, and may have
 * @throws UserError for what is no such listing
 */
export function lsblkListing<R extends ListedRow>(row: {
  required?: readonly string[]
  properties?: Schema
  additionalProperties?: Schema
}): (json: string) => R[] {
  const listing: SchemaCheck<{ blockdevices: R[] }> = schemaCheck({
    type: 'object',
    required: ['blockdevices'],
    properties: { blockdevices: { $ref: '#/$defs/rows' } },
    $defs: {
      rows: {
        type: 'array',
        items: {
          ...{ type: 'object', ...row, required: ['kname', ...(row.required ?? [])] },
          properties: { ...row.properties, kname: { type: 'string' }, children: { $ref: '#/$defs/rows' } },
        },
      },
    },
  })
  return (json) => {
    const value = parsed(json)
    if (!listing.accepts(value)) throw new UserError('lsblk-unreadable', 'lsblk answered in a form that is not known')
    return value.blockdevices
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch (cause) {
    throw new UserError('lsblk-unreadable', 'lsblk did not answer in JSON; it may be older than util-linux 2.27', {
      cause,
    })
  }
}

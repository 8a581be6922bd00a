import type { Difference } from './compare.js'

/** A difference that is meant: which calls, where in the answer, and the row of docs/fidelity/ that says so. */
export interface Explanation {
  /** The row's first cell, as it is written there. */
  readonly row: string
  readonly applies: (difference: Difference) => boolean
}

/** Each must still be needed, and told: one that explains nothing, or whose row is gone, fails the suite. */
export const EXPLAINED: readonly Explanation[] = [
  {
    row: 'Unexpected input is a 500',
    applies: ({ at, real, ours }) => at === 'status' && statusOf(real) >= 500 && statusOf(ours) < 500,
  },
  {
    row: "A body that is not JSON: 500 with the message of Python's parser",
    applies: ({ at, ours }) =>
      /faultstring$|^status$/.test(at) && /The request body is not valid JSON/.test(JSON.stringify(ours)),
  },
  {
    row: 'Links and `next` of inspection rules point to `/v1/inspection`, which does not exist',
    applies: ({ at, real, ours }) =>
      /\.(href|next)$/.test(at) && /\/inspection\b/.test(String(real)) && /\/inspection_rules\b/.test(String(ours)),
  },
  {
    row: 'The error for invalid steps quotes the whole JSON schema',
    applies: ({ at, real }) => at.endsWith('faultstring') && /\n\nFailed validating .* in schema/.test(String(real)),
  },
  {
    row: 'The ports, portgroups and volumes of a node, and the ports of a portgroup, by its name: 404',
    applies: ({ at, call, real }) =>
      /\/(nodes\/mv|portgroups\/group-1)\/ports/.test(call) &&
      (at === 'status' || at.endsWith('faultstring')) &&
      /Portgroup (None|group-1) could not be found/.test(JSON.stringify(real)),
  },
  {
    row: 'Vendor methods and properties of drivers and logical disks have long descriptions',
    applies: ({ at, call, real, ours }) =>
      /\/(properties|logical_disk_properties|methods)(\/|\.json|\?node_ident=[^ ]*)?( at .*)?$/.test(call) &&
      [real, ours].every((value) => typeof value === 'string' && value.length > 10) &&
      /^\.\w+(\.description)?$/.test(at),
  },
  {
    row: "Every lock is written to the node's record, so adding a port also updates `updated_at`",
    applies: ({ at, real, ours }) => /\.updated_at$/.test(at) && real === '{time}' && ours === null,
  },
  {
    row: 'Unknown paths and methods get errors in several formats, some about wrong arguments, some from the web framework',
    applies: ({ script, call, at, real, ours }) =>
      script === 'nowhere' ||
      // Where the real one answers a call, so do we.
      (script === 'a node elsewhere in the path' &&
        (/^header |^\.error_message\b/.test(at) ||
          (at === 'status' && statusOf(real) >= 400 && statusOf(ours) >= 400))) ||
      /^(DELETE \/v1\/nodes\/[^/]+\/states\/power|POST \/v1\/nodes\/[^/]+\/ports)\b/.test(call),
  },
  {
    row: 'The `uuid` of an allocation may be any text',
    applies: ({ call, at, ours }) =>
      /^POST \/v1\/allocations /.test(call) && at === 'status' && /Expected UUID for uuid/.test(JSON.stringify(ours)),
  },
  {
    row: 'Rescue by the agent needs a boot interface that boots its ramdisk, which `fake` does not',
    applies: ({ at, real, ours }) =>
      /^\.rescue\.re(ason|sult)$/.test(at) &&
      (/validate_rescue/.test(String(real)) || (real === false && ours === true)),
  },
  {
    row: 'A change of power, boot mode or virtual media clears any `last_error`',
    applies: ({ at, real, ours, call }) =>
      at === 'at rest .last_error' && real === null && typeof ours === 'string' && call.includes('/states/power'),
  },
  {
    row: 'The error for a port name that is in use speaks of a UUID',
    applies: ({ at, real, ours }) =>
      at.endsWith('faultstring') &&
      /^A port with UUID .* already exists\.$/.test(String(real)) &&
      /^A port with name .* already exists\.$/.test(String(ours)),
  },
  {
    row: "The steps `hold`, `wait`, `power_on`, `power_off`, `reboot` and those for child nodes are dropped from every plan, against Ironic's documentation",
    applies: ({ script, at }) =>
      script === 'what the conductor does itself as a step' && /\.(power_state|last_power_state_change)$/.test(at),
  },
]

const statusOf = (brief: unknown): number => (brief as readonly [number])[0]

import { PROVISION_STATES } from '../../base/wire/index.js'
import type { FaultReport } from '../faults/fault.js'
import { effectFacts, FAULT_KINDS } from '../faults/fault-effects.js'
import { JOURNAL_KINDS, type JournalEntry, type JournalKind } from '../journal/entry.js'
import type { ReplayReport, ReplayRequest } from '../documents/replay-document.js'
import type { ClockReport, JournalPage } from '../documents/documents.js'
import type {
  AdvanceRequest,
  CableRequest,
  EnrollRequest,
  FaultDocument,
  MachinesRequest,
  PowerRequest,
} from '../documents/documents.js'
import type { NewDisk } from '../../machine/index.js'
import { typedSchema, type TypedSchema } from './control-operation.js'
import { closedObjectSchema, countSchema, DURATION, openObjectSchema, textSchema } from './schema-forms.js'

export const MATCH = closedObjectSchema({
  node: textSchema("a node's uuid or name"),
  machine: textSchema('id of a machine'),
  label: textSchema('selects BareMetalHosts by their labels, as in rack=a,tier!=gold'),
  state: { enum: PROVISION_STATES, description: "the node's provision state at the time of the strike" },
  step: textSchema('the step that the agent carries out, as in install_coreos'),
  phase: { enum: ['inspect', 'clean', 'deploy', 'install', 'active'], description: 'phase of the node' },
  route: textSchema(
    'an exchange, as in PUT /v1/nodes/:id/states/provision; what its path begins with, its method in front',
  ),
  to: { enum: ['ironic', 'agent', 'images'], description: 'an exchange with this server; images are file servers' },
  program: textSchema('a command on a machine, by the name of its program'),
  disk: textSchema('kernel name of a disk'),
  image: textSchema("a container's image that is pulled, or what its name begins with"),
  bmc: textSchema(
    'a call of a BMC: read power, set power, set boot, read firmware, change firmware, read hardware ...',
  ),
})

const EFFECT: TypedSchema = {
  type: 'object',
  required: ['kind'],
  properties: { kind: { enum: FAULT_KINDS, description: 'docs/control.md shows each' } },
  oneOf: FAULT_KINDS.map((kind) => {
    const { members = {}, required = [] } = effectFacts(kind)
    return closedObjectSchema({ kind: { const: kind }, ...members }, ['kind', ...required])
  }),
}

export const FAULT = typedSchema<FaultDocument>(
  closedObjectSchema(
    {
      match: { ...MATCH, description: 'where it strikes: all conditions must hold' },
      effect: EFFECT,
      times: countSchema('how often it strikes; without, until it is lifted', 1),
      after: countSchema('matches that pass before it strikes'),
      probability: { type: 'number', exclusiveMinimum: 0, maximum: 1, description: "decided by the lab's seed" },
      between: {
        type: 'array',
        items: DURATION,
        minItems: 2,
        maxItems: 2,
        description: 'lab times since the lab began, between which it strikes',
      },
      label: textSchema('any text, to lift several faults at once'),
    },
    ['match', 'effect'],
  ),
)

export const FAULT_REPORT = typedSchema<FaultReport>(
  openObjectSchema({
    id: textSchema('fault-1'),
    struck: countSchema('how often it has struck'),
    match: MATCH,
    effect: { type: 'object' },
  }),
)

export const CLOCK = typedSchema<ClockReport>(
  openObjectSchema({
    mode: { description: 'manual, auto, real, or a speed as in x60', type: 'string' },
    labTime: { type: 'string', format: 'date-time' },
    elapsed: { type: 'number', description: 'milliseconds of lab time since the lab began' },
  }),
)

export const MODE = typedSchema<{ mode: string }>(
  closedObjectSchema(
    {
      mode: {
        type: 'string',
        pattern: '^(manual|auto|real|x[0-9]+(\\.[0-9]+)?)$',
        description:
          'real, xN (N times as fast, such as x60), manual (stands still until advanced) or auto (jumps over waits)',
      },
    },
    ['mode'],
  ),
)

export const ADVANCE = typedSchema<AdvanceRequest>({
  oneOf: [
    closedObjectSchema({ by: DURATION }, ['by']),
    closedObjectSchema(
      {
        until: closedObjectSchema({ node: textSchema("a node's uuid or name"), state: { enum: PROVISION_STATES } }, [
          'node',
          'state',
        ]),
        within: { ...DURATION, description: 'limit in lab time; default 24h' },
      },
      ['until'],
    ),
    closedObjectSchema(
      {
        next: { const: true, description: 'until a node or a machine changes' },
        within: { ...DURATION, description: 'limit in lab time; default 24h' },
      },
      ['next'],
    ),
  ],
})

export const ENTRY_SCHEMA = typedSchema<JournalEntry>({
  type: 'object',
  required: ['id', 'kind', 'node', 'name', 'machine', 'labTime', 'wallTime', 'fault'],
  properties: {
    id: countSchema('counts up from 1', 1),
    kind: { enum: JOURNAL_KINDS },
    node: { type: ['string', 'null'], description: 'uuid' },
    name: { type: ['string', 'null'] },
    machine: { type: ['string', 'null'] },
    labTime: { type: 'string', format: 'date-time' },
    wallTime: { type: 'string', format: 'date-time' },
    fault: { type: ['string', 'null'], description: 'id of the fault that struck' },
    process: textSchema('the process that noted it; only where several have a database'),
    cursor: textSchema('place behind it in the journals of all processes; only where several have a database'),
    nearMiss: {
      type: ['object', 'null'],
      description: 'of an exchange that led nowhere: the call that it comes nearest to',
      properties: { nearest: { type: 'string' }, why: { type: 'string' } },
    },
  },
})

/** A page of the journal. */
export const JOURNAL_PAGE = typedSchema<JournalPage>({
  type: 'object',
  required: ['entries', 'next'],
  properties: {
    entries: { type: 'array', items: ENTRY_SCHEMA },
    next: { type: ['string', 'null'], description: 'URL of the next page' },
    missing: {
      type: 'array',
      items: openObjectSchema({ process: textSchema('its name'), why: textSchema('in words') }),
      description: 'processes of the same database whose entries are not here; absent where there is none',
    },
  },
})

/** Selects entries of the journal. */
export const JOURNAL_QUERY = {
  node: textSchema("a node's uuid or name"),
  machine: textSchema('id of a machine'),
  kind: typedSchema<JournalKind | readonly JournalKind[]>({
    type: 'string',
    pattern: `^(${JOURNAL_KINDS.join('|')})(,(${JOURNAL_KINDS.join('|')}))*$`,
    description: `one or more of ${JOURNAL_KINDS.join(', ')}, with commas`,
  }),
  route: textSchema('as in PATCH /v1/nodes/:id'),
  fault: textSchema('id of a fault that struck'),
  status: typedSchema<number>({ type: 'string', pattern: '^[1-5][0-9]{2}$' }),
  after: typedSchema<number | string>({
    type: 'string',
    pattern: '^[0-9]+([._][0-9]+)*$',
    description: 'the id of an entry, or its cursor where it has one: those behind it',
  }),
  since: typedSchema<string>({ type: 'string', format: 'date-time', description: 'lab time, from which on' }),
  until: typedSchema<string>({ type: 'string', format: 'date-time', description: 'lab time, before which' }),
}

export const ENROLL = typedSchema<EnrollRequest>(
  closedObjectSchema({
    count: { type: 'integer', minimum: 1, maximum: 10_000, description: 'default 1' },
    prefix: { type: 'string', pattern: '^[A-Za-z0-9._~-]+$', description: 'of the names; default node-' },
    seed: {
      type: 'integer',
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'the same seed gives the same uuids, MAC addresses, serial numbers and WWNs in any lab',
    },
    hardware: { type: 'object', description: 'hardware of the machines: docs/hardware.md' },
  }),
)

export const CABLE = typedSchema<CableRequest>(
  closedObjectSchema({ carrier: { type: 'boolean', description: 'whether a cable is plugged in' } }, ['carrier']),
)

export const NEW_DISK = typedSchema<NewDisk>(
  closedObjectSchema({
    serial: textSchema('of a disk that was there before: it comes back with its contents; default: of a new one'),
    wwn: textSchema('default: one that the serial number gives'),
    size: countSchema('bytes; default: as the old one', 1),
    model: textSchema('default: as the old one'),
    vendor: textSchema('default: as the old one'),
    rotational: { type: 'boolean', description: 'default: as the old one' },
  }),
)

export const MACHINES_TO_ADD = typedSchema<MachinesRequest>(
  closedObjectSchema({
    count: { type: 'integer', minimum: 1, maximum: 10_000, description: 'default 1' },
    hardware: { type: 'object', description: 'hardware of the machines: docs/hardware.md' },
  }),
)

export const REIMAGING = typedSchema<Pick<MachinesRequest, 'hardware'>>(
  closedObjectSchema({
    hardware: { type: 'object', description: 'other hardware, as of one machine: docs/hardware.md' },
  }),
)

export const POWER = typedSchema<PowerRequest>(
  closedObjectSchema(
    {
      power: { enum: ['on', 'off', 'reboot'] },
      soft: { type: 'boolean', description: 'as by the power button; default false' },
    },
    ['power'],
  ),
)

/** Characters of a recording that is replayed: the page and the server hold it in memory. */
const MAX_REPLAYED_RECORDING = 32 * 2 ** 20

export const REPLAY = typedSchema<ReplayRequest>(
  closedObjectSchema(
    {
      recording: {
        type: 'string',
        minLength: 1,
        maxLength: MAX_REPLAYED_RECORDING,
        description: 'text of a file that ironstage record, or GET /_lab/recording, has written',
      },
      name: textSchema('its name, for messages'),
      wait: {
        type: 'number',
        exclusiveMinimum: 0,
        description: 'seconds to wait for the states of the recording; default: three times as long, plus a minute',
      },
    },
    ['recording'],
  ),
)

export const REPLAY_REPORT = typedSchema<ReplayReport>(
  openObjectSchema({
    name: { type: 'string' },
    state: { enum: ['running', 'ended', 'failed', 'stopped'] },
    done: countSchema('calls that were made again'),
    calls: countSchema('calls of the recording'),
    differences: countSchema('differences so far'),
    lines: { type: 'array', items: { type: 'string' }, description: 'as ironstage replay prints them' },
    problem: { type: ['string', 'null'], description: 'reason of a failure' },
  }),
)

import type { Fault, LabFaults } from '../control/index.js'
import { faultFrom, FAULT } from '../control/index.js'
import { UserError } from '../base/runtime/index.js'
import { PROFILE_NAMES } from '../ironic-mock/index.js'
import { SchemaCompiler, schemaProblem } from '../base/schemas/index.js'
import { readFleet } from '../machine/index.js'
import type { EnrollOptions, LabOptions } from './lab.js'

// No compiler has seen what JavaScript passes to a lab.

const text = { type: 'string', minLength: 1 }

const closedObject = (properties: Readonly<Record<string, object>>, required: readonly string[] = []) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
})

const CLOCK_MODES = ['auto', 'manual']

const LAB_OPTIONS = closedObject({
  clock: { type: ['string', 'number'] },
  seed: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  ironic: closedObject({
    profile: { enum: [...PROFILE_NAMES] },
    release: text,
    files: { type: 'array', items: closedObject({ name: text, text: { type: 'string' } }, ['name', 'text']) },
    set: { type: 'array', items: text },
  }),
  managers: { type: 'array', items: { type: 'object' } },
  hardware: {
    type: 'array',
    minItems: 1,
    items: closedObject({ count: { type: 'integer', minimum: 1 }, host: text, hardware: { type: 'object' } }, [
      'hardware',
    ]),
  },
  metalImage: text,
  liveImages: { type: 'object', required: ['files', 'byDefault'] },
  disks: { enum: ['file', 'described'] },
  realistic: { type: 'boolean' },
  listen: closedObject({ host: text, port: { type: 'integer', minimum: 0, maximum: 65_535 } }, ['host', 'port']),
  // A function with members, as its type has it.
  logger: {},
} satisfies Record<keyof LabOptions, object>)

const STEP = {
  type: 'object',
  required: ['step', 'interface'],
  properties: { step: text, interface: text, args: { type: 'object' }, priority: { type: ['integer', 'string'] } },
}

const ENROLL_OPTIONS = closedObject({
  machine: { type: 'object', required: ['id'] },
  fields: { type: 'object' },
  deploySteps: { type: 'array', items: STEP },
  configdrive: {},
} satisfies Record<keyof EnrollOptions, object>)

const schemas = new SchemaCompiler()

function checkArgument(schema: object, value: object, of: string): void {
  // An option without a value is as good as none.
  const present = Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined))
  const check = schemas.check(schema)
  if (!check.accepts(present))
    throw wrongArgument(of, schemaProblem(check.errors(), { document: 'the argument', key: 'option ' }).message)
}

const wrongArgument = (of: string, message: string): UserError =>
  new UserError('lab-argument', `${of}: ${message}`, { kind: 'usage' })

function checkIsObject(value: unknown, of: string): asserts value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw wrongArgument(of, 'the argument is not an object with options')
}

/** @throws UserError `lab-argument` or `hardware-file` (usage) */
export function checkLabOptions(options: unknown): asserts options is LabOptions {
  checkIsObject(options, 'createLab')
  checkArgument(LAB_OPTIONS, options, 'createLab')
  const { clock, hardware } = options as LabOptions
  if (typeof clock === 'string' && !CLOCK_MODES.includes(clock))
    throw wrongArgument(
      'createLab',
      `clock is ${JSON.stringify(clock)}: it takes auto, manual, or a speed such as 1 or 10`,
    )
  if (typeof clock === 'number' && !(clock > 0 && Number.isFinite(clock)))
    throw wrongArgument('createLab', `clock is ${clock}, which is no speed: 1 is wall time`)
  for (const [index, { hardware: document }] of (hardware ?? []).entries())
    readFleet(document, `createLab: the hardware of entry ${index + 1}`)
}

/** @throws UserError `lab-argument` (usage) */
export function checkEnrollOptions(options: unknown): asserts options is EnrollOptions {
  checkIsObject(options, 'enroll')
  checkArgument(ENROLL_OPTIONS, options, 'enroll')
}

/** A fault whose members are those of documents and of the library: lengths of time may be texts. */
function checkedFault(fault: unknown): Fault {
  checkIsObject(fault, 'faults.add')
  const { effect } = fault as Partial<Fault>
  const { ms, ...rest } = (effect ?? {}) as { ms?: number }
  const document = { ...fault, effect: ms === undefined ? effect : { ...rest, for: ms } }
  checkArgument(FAULT, document, 'faults.add')
  return faultFrom(document)
}

/** Faults of a lab, each of which is checked when it is added. */
export const checkedFaults = (faults: LabFaults): LabFaults => ({
  add: (fault) => faults.add(checkedFault(fault)),
  addAll: (all) => faults.addAll(all.map(checkedFault)),
  get: (id) => faults.get(id),
  list: () => faults.list(),
  lift: (id) => faults.lift(id),
  clear: (label) => faults.clear(label),
})

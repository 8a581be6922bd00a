import { AGENT_OPERATIONS, IRONIC_OPERATIONS, PROVISION_STATES } from '../../base/wire/index.js'
import { CONDITIONS } from './check-fault.js'
import { EXCHANGE_PARTIES } from './exchange-parties.js'
import type { FaultMatch } from './fault.js'
import { effectFacts, FAULT_KINDS, type FaultKind, type FaultPoint } from './fault-effects.js'
import type { TypedSchema } from '../operations/control-operation.js'
import { MATCH } from '../operations/control-schemas.js'

/** An input of a form: a member of an effect. */
export interface EffectMember {
  readonly name: string
  readonly isRequired: boolean
  readonly schema: TypedSchema
}

/** A kind of fault, and what can stand beside it. */
export interface FaultChoice {
  readonly kind: FaultKind
  readonly members: readonly EffectMember[]
  /** Conditions that can hold where it strikes. */
  readonly conditions: readonly (keyof FaultMatch)[]
  /** Receivers of exchanges in which it acts. */
  readonly asked: readonly string[]
}

const ANYWHERE = ['node', 'machine', 'state', 'step', 'phase'] as const

const propertiesOf = (schema: TypedSchema) => schema['properties'] as Readonly<Record<string, TypedSchema>>

/** The faults that a form can offer, as data: nothing that {@link checkFault} would refuse by its kind. */
export const FAULT_CHOICES = {
  kinds: FAULT_KINDS.filter((kind) => effectFacts(kind).only !== 'links').map((kind): FaultChoice => {
    const { members = {}, required = [], points, exchanges } = effectFacts(kind)
    const acts = (at: readonly FaultPoint[]) => at.some((point) => points.includes(point))
    const own = Object.entries(CONDITIONS).flatMap(([name, at]) => (acts(at) ? [name as keyof FaultMatch] : []))
    return {
      kind,
      members: Object.entries(members).map(([name, schema]) => ({
        name,
        schema,
        isRequired: required.includes(name),
      })),
      conditions: [...ANYWHERE, ...own],
      asked: exchanges ? EXCHANGE_PARTIES[exchanges].to : ['ironic', 'agent', 'images'],
    }
  }),
  /** Conditions that select by different things: no fault can match two of them at once. */
  apart: Object.entries(CONDITIONS).map(([name, points]) => ({ name, points })),
  states: [...PROVISION_STATES] as readonly string[],
  phases: propertiesOf(MATCH)['phase']!['enum'] as readonly string[],
  routes: [
    ...IRONIC_OPERATIONS.map(({ method, path }) => ({ to: 'ironic', route: `${method} ${path}` })),
    ...Object.values(AGENT_OPERATIONS).flatMap(({ method, paths }) =>
      paths.slice(0, 1).map((path) => ({ to: 'agent', route: `${method} ${path}` })),
    ),
  ],
} as const

import type { Parties } from '../../base/wire/index.js'
import type { FaultMatch } from './fault.js'

/** Exchanges in which an effect acts, by who takes part. */
export type ExchangeParties = 'with agents' | 'from agents' | 'to ironic'

interface PartiesRow {
  /** Receivers. */
  readonly to: readonly NonNullable<FaultMatch['to']>[]
  readonly includes: (exchange: Parties) => boolean
  /** Says of a route that it has no such calls. */
  readonly otherwise: string
}

/** Whether an agent sends a request to Ironic. */
const isFromAgent = ({ from, to }: Parties): boolean => from === 'agent' && to === 'ironic'

export const EXCHANGE_PARTIES: Readonly<Record<ExchangeParties, PartiesRow>> = {
  'with agents': {
    to: ['ironic', 'agent'],
    includes: (exchange) => exchange.to === 'agent' || isFromAgent(exchange),
    otherwise: 'which is not a call of an agent',
  },
  'from agents': {
    to: ['ironic'],
    includes: isFromAgent,
    otherwise: 'which no agent sends',
  },
  'to ironic': {
    to: ['ironic'],
    includes: ({ to }) => to === 'ironic',
    otherwise: 'which Ironic does not answer',
  },
}

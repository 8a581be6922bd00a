import type { OperatorName } from '../../cluster/index.js'
import { nearestWord } from '../../../base/runtime/index.js'
import { CLUSTER_OPERATORS } from '../options/value-words.js'
import { usageError } from '../usage-error.js'

/** Operators of ironstage that act: those of a lab with nodes of its own, or those of a cluster. */
export type ActorChoice =
  | { readonly of: 'nodes'; readonly actors: readonly 'bmo'[] }
  | { readonly of: 'cluster'; readonly actors: readonly OperatorName[] }

/** Operators by the names of their repositories, as which they may be meant. */
const WHOLE_NAMES: Readonly<Record<string, OperatorName>> = {
  'baremetal-operator': 'bmo',
  'cluster-baremetal-operator': 'cbo',
  'cluster-version-operator': 'cvo',
  'image-customization-controller': 'icc',
  'machine-api-operator': 'mao',
  'machine-config-daemon': 'mcd',
  'machine-config-operator': 'mco',
}

/**
 * Reads `--actors`: `none`, `bmo`, `all`, or operators of a cluster with commas. The machine config operator brings its
 * daemons.
 *
 * @throws UserError (usage) for other words
 */
export function readActors(text = 'bmo'): ActorChoice {
  const names = [...new Set(text.split(',').map((name) => name.trim()))]
  const alone = names.find((name) => name === 'none' || name === 'all')
  if (alone !== undefined && names.length > 1)
    throw usageError(
      `--actors ${text}: ${alone} goes with no other word`,
      alone === 'all' ? 'all of them act with --actors all' : 'name the operators that act, and leave out none',
    )
  if (alone === 'none') return { of: 'nodes', actors: [] }
  if (text === 'bmo' || names.join() === 'bmo') return { of: 'nodes', actors: ['bmo'] }
  const unknown = names.find((name) => !isOperator(name))
  if (unknown !== undefined) throw unknownActor(unknown)
  const isIn = (name: OperatorName): boolean =>
    alone === 'all' || names.includes(name) || (name === 'mcd' && names.includes('mco'))
  return { of: 'cluster', actors: CLUSTER_OPERATORS.filter(isIn) }
}

const isOperator = (name: string): boolean => name === 'all' || CLUSTER_OPERATORS.some((known) => known === name)

function unknownActor(name: string): Error {
  const lower = name.toLowerCase()
  const whole = nearestWord(lower, Object.keys(WHOLE_NAMES))
  const near = (whole === undefined ? undefined : WHOLE_NAMES[whole]) ?? nearestWord(lower, CLUSTER_OPERATORS)
  const meant = near === undefined ? '' : `; did you mean ${near}?`
  const known = `they are ${CLUSTER_OPERATORS.join(', ')}, or none, or all`
  return usageError(
    name === '' ? '--actors lacks a name between its commas' : `--actors names no operator ${name}${meant}`,
    known,
  )
}

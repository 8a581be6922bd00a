import { expect, test } from 'vitest'
import type { FaultEffect, FaultMatch } from '../../control/index.js'
import type { LabPoint } from '../points.js'
import type { FaultContext } from './fault-context.js'
import { strikesElsewhere } from './strikes-elsewhere.js'

const SILENT: FaultEffect = { kind: 'bmc-silent' }
const LOSS: FaultEffect = { kind: 'power-loss' }
const AGENT: FaultEffect = { kind: 'agent-silent' }

const BMC = { kind: 'bmc' } as LabPoint
const COMMAND = { kind: 'command' } as LabPoint
const HEARTBEAT = { kind: 'exchange', to: 'ironic', target: '/v1/heartbeat/uuid' } as LabPoint
const TO_AGENT = { kind: 'exchange', to: 'agent', target: '/v1/commands' } as LabPoint

const disksOf = (machine: string) => (machine === 'own' ? ['sda'] : undefined)
const ofIronic = { isShared: true, hasNodes: true, disksOf } as unknown as FaultContext
const ofMachines = { isShared: true, hasNodes: false, disksOf } as unknown as FaultContext
const ofOneProcess = { hasNodes: true, disksOf } as unknown as FaultContext

test.each<[string, FaultMatch, FaultEffect, LabPoint, inIronic: boolean, inMachines: boolean]>([
  ['a call of a BMC, for any', {}, SILENT, BMC, true, true],
  ['a call of a BMC, for a node', { node: 'a' }, SILENT, BMC, true, false],
  ['a call of a BMC, for a node and a machine', { node: 'a', machine: 'own' }, SILENT, BMC, true, true],
  ['a heartbeat, for a node', { node: 'a' }, AGENT, HEARTBEAT, true, false],
  ['a heartbeat, for a node in a phase', { node: 'a', phase: 'clean' }, AGENT, HEARTBEAT, true, true],
  ['a command to an agent, for a node', { node: 'a' }, AGENT, TO_AGENT, true, true],
  ['a program, for a node', { node: 'a' }, LOSS, COMMAND, false, true],
  ['power loss at a call of a BMC, for a node', { node: 'a' }, LOSS, BMC, false, true],
  ['an answer of Ironic, for any', {}, { kind: 'empty-last-error' }, HEARTBEAT, true, false],
])('%s', (_, match, effect, point, inIronic, inMachines) => {
  expect(strikesElsewhere({ match, effect }, point, undefined, ofIronic)).toBe(!inIronic)
  expect(strikesElsewhere({ match, effect }, point, 'own', ofMachines)).toBe(!inMachines)
  expect(strikesElsewhere({ match, effect }, point, undefined, ofOneProcess)).toBe(false)
})

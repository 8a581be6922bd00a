import { defineCommand, type TableCommand } from './command-shape.js'
import * as takes from './options/option-lists.js'
import type { CommandOptionName } from './options/resolve-options.js'

/** Commands that control a running lab, and `chaos`, which starts a lab of its own. */
export const LAB_COMMANDS: readonly TableCommand<CommandOptionName>[] = [
  defineCommand({
    usage: 'fault list',
    description: 'list the faults, and how often each has struck',
    options: takes.FAULT_LIST_OPTIONS,
    load: async () => {
      const { faultList } = await import('./commands/fault-command.js')
      return (options, { environment }) => faultList(options, environment)
    },
  }),
  defineCommand({
    usage: 'fault add [FILE...]',
    description: 'add a fault, or the faults of files; - is standard input',
    options: takes.FAULT_ADD_OPTIONS,
    load: async () => {
      const { faultAdd } = await import('./commands/fault-command.js')
      return (options, { environment, operands }) => faultAdd(options, environment, operands)
    },
  }),
  defineCommand({
    usage: 'fault lift [ID...]',
    description: 'lift faults',
    options: takes.FAULT_LIFT_OPTIONS,
    descriptions: { all: 'lift all faults', label: 'lift the faults with this label' },
    load: async () => {
      const { faultLift } = await import('./commands/fault-command.js')
      return (options, { environment, operands }) => faultLift(options, environment, operands)
    },
  }),
  defineCommand({
    usage: 'clock show',
    description: 'print the time of the lab',
    options: takes.CLOCK_OPTIONS,
    load: async () => {
      const { clockShow } = await import('./commands/clock-command.js')
      return (options, { environment }) => clockShow(options, environment)
    },
  }),
  defineCommand({
    usage: 'clock set MODE',
    description: 'set how time passes: real, xN, manual or auto',
    options: takes.CLOCK_OPTIONS,
    load: async () => {
      const { clockSet } = await import('./commands/clock-command.js')
      return (options, { environment, operands: [mode = ''] }) => clockSet(options, environment, mode)
    },
  }),
  defineCommand({
    usage: 'clock advance [TIME]',
    description: 'move time forward: by 31m, or until a node is in a state',
    options: takes.CLOCK_ADVANCE_OPTIONS,
    load: async () => {
      const { clockAdvance } = await import('./commands/clock-command.js')
      return (options, { environment, operands: [by] }) => clockAdvance(options, environment, by)
    },
  }),
  defineCommand({
    usage: 'journal',
    description: 'print what happened in a lab: requests, commands, states, faults',
    options: takes.JOURNAL_OPTIONS,
    descriptions: { node: 'entries of this node, by name or uuid', follow: 'keep printing new entries' },
    load: async () => {
      const { journal } = await import('./commands/clock-command.js')
      return (options, { environment }) => journal(options, environment)
    },
  }),
  defineCommand({
    usage: 'chaos',
    description: 'inject random faults into random deployments and check the invariants',
    options: takes.CHAOS_OPTIONS,
    descriptions: {
      nodes: 'machines with a node each (default: 3)',
      seed: 'random seed: the same seed gives the same report (default: 1)',
      faults: 'faults in place of random ones: YAML or JSON, as in docs/control.md',
    },
    load: async () => {
      const { chaos } = await import('./commands/chaos-command.js')
      return (options, { environment }) => chaos(options, environment)
    },
  }),
]

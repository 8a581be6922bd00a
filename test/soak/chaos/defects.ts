import type { ChaosInvariant } from '../../../lab/index.js'

/** A change of the sources that breaks something only where faults strike. */
export interface Defect {
  does: string
  file: string
  /** Text that is there once. */
  from: string
  to: string
  /** Reports of chaos that fit it. */
  invariants: readonly ChaosInvariant[]
}

export const DEFECTS: readonly Defect[] = [
  {
    does: 'a node stays locked when its power could not be changed',
    file: 'ironic-mock/conductor/hardware/power.ts',
    from: 'if (!outcome.ok) task.node.last_error = powerError(memo.target, outcome.error)',
    to: 'if (!outcome.ok) return void (task.node.last_error = powerError(memo.target, outcome.error))',
    invariants: ['reserved for ever'],
  },
  {
    does: 'a lookup of a node that waits for no agent is answered with 500',
    file: 'ironic-mock/api/handlers/ramdisk-handlers.ts',
    from: '!allowed.includes(node.provision_state)) throw ironicErrors.resourceNotFound()',
    to: "!allowed.includes(node.provision_state)) throw new TypeError('the node is elsewhere')",
    invariants: ['unexpected server error'],
  },
  {
    does: 'a deployment that is asked for again after a failure lacks its config',
    file: 'ironic-mock/conductor/flows/deploy/deployment.ts',
    from: 'const user = (request.deploy_steps ?? []) as PlannedStep[]',
    to: "const user = (request.deploy_steps ?? []).map((step) => (task.node.provision_state === 'deploy failed' ? { ...step, args: {} } : step)) as PlannedStep[]",
    invariants: ['deployed without its config'],
  },
  {
    does: 'a failed installation clears another disk too',
    file: 'steps/install-coreos/unbootable.ts',
    from: 'if (!(await hasBootPartition(target, device))) return',
    to: "await runCommand(target.executor, ['sgdisk', '--zap-all', '/dev/sdb'], { effect: 'writes', accept: [0, 2] })",
    invariants: ['unexpected disk write'],
  },
  {
    does: 'a deployment whose agent never calls has no time limit',
    file: 'ironic-mock/conductor/core/deadline-passed.ts',
    from: "if (task.node.provision_state !== 'wait call-back') return",
    to: "if (task.node.provision_state === 'wait call-back') return",
    invariants: ['never settled'],
  },
  {
    does: 'requests without an answer are missing from the journal',
    file: 'lab/journal/record.ts',
    from: 'note(undefined, failureText(error))',
    to: "if (point.kind !== 'exchange') note(undefined, failureText(error))",
    invariants: ['gap in the journal'],
  },
]

import type { LabPoint } from '../../points.js'
import { machineAt, machineIn } from '../fault-points.js'
import { OF_THIS_LAB, type EffectActions } from './effect-action.js'

/** Whether a point has a machine. A BMC has one, or will have. */
export const canStrikeMachine = (point: LabPoint): boolean => machineIn(point) !== undefined || point.kind === 'bmc'

const diskFailure = (code: 'EIO' | 'ENOSPC') =>
  Object.assign(new Error(`${code === 'EIO' ? 'input/output error' : 'no space left on device'} ${OF_THIS_LAB}`), {
    code,
  })

/** Effects on a machine: its power, programs, disks and links. */
export const MACHINE_EFFECTS: EffectActions<
  'power-loss' | 'exit-code' | 'disk-error' | 'disk-full' | 'disk-lies' | 'partitions-late' | 'link-cut'
> = {
  'power-loss': {
    canAct: canStrikeMachine,
    async apply({ point, context, next }) {
      const machine = machineAt(point, context)
      if (machine !== undefined) context.cutPower(machine)
      return next()
    },
  },
  'exit-code': {
    apply: ({ effect }) => Promise.resolve({ exitCode: effect.code, stderr: effect.stderr ?? '' }),
  },
  'disk-error': {
    canAct: ({ offset, length }, { at }) => offset <= at && at < offset + length,
    apply: () => Promise.reject(diskFailure('EIO')),
  },
  'disk-full': { apply: () => Promise.reject(diskFailure('ENOSPC')) },
  'disk-lies': { apply: () => Promise.resolve(undefined) },
  'partitions-late': {
    isOver: ({ written }, { ms }, clock) => clock.now() >= written + ms,
    apply: () => Promise.resolve(false),
  },
  'link-cut': {
    apply({ effect, point, active, context, next }) {
      // Without a time the link is gone before anything of the answer has gone over it. The command goes on in any case.
      if (effect.ms === 0) point.cut()
      else void context.clock.sleep(effect.ms, { signal: active.ended, weak: true }).then(point.cut, () => {})
      return next()
    },
  },
}

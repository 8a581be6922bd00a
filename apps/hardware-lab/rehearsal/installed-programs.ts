import type { Machine } from '../../../machine/index.js'
import { hostnameOf, type ScriptAnswer } from './rehearsed-scripts.js'
import { runningSystemOf } from './rehearsed-system.js'

/**
 * Answers a command of a user on an installed simulated system, for the host's own checks: `cat`, `test`, `hostname`, and
 * `systemctl is-system-running`, `is-active` and `is-enabled`. Any other program is not there.
 */
export function answerLine(machine: Machine, line: string): ScriptAnswer {
  if (runningSystemOf(machine) !== 'installed')
    return { stdout: '', stderr: 'the live system runs no such line\n', code: 127 }
  const [program = '', ...words] = line.match(/'[^']*'|\S+/g)?.map((word) => word.replace(/^'(.*)'$/, '$1')) ?? []
  const files = machine.rootFiles()
  switch (program) {
    case 'cat': {
      const missing = words.find((path) => !files?.exists(path))
      if (missing !== undefined) return failedAnswer(`cat: ${missing}: No such file or directory`, 1)
      return { stdout: words.map((path) => files!.text(path)).join(''), code: 0 }
    }
    case 'test':
      return { stdout: '', code: files?.exists(words.at(-1) ?? '') ? 0 : 1 }
    case 'hostname':
    case 'uname':
      return { stdout: `${hostnameOf(machine)}\n`, code: 0 }
    case 'true':
      return { stdout: '', code: 0 }
    case 'systemctl': {
      const [verb, unit = ''] = words.filter((word) => !word.startsWith('-'))
      if (verb === 'is-system-running') return { stdout: 'running\n', code: 0 }
      if (verb !== 'is-active' && verb !== 'is-enabled') break
      const isThere = machine.firstBoot()?.units.some((each) => each === unit || each === `${unit}.service`) ?? false
      if (verb === 'is-active') return { stdout: isThere ? 'active\n' : 'inactive\n', code: isThere ? 0 : 3 }
      return { stdout: isThere ? 'enabled\n' : 'disabled\n', code: isThere ? 0 : 1 }
    }
  }
  return failedAnswer(`${program}: command not found: the systems of a rehearsal have few programs`, 127)
}

const failedAnswer = (message: string, code: number): ScriptAnswer => ({ stdout: '', stderr: `${message}\n`, code })

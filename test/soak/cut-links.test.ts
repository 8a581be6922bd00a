import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { seededRandom, systemClock, systemRandom } from '../../base/runtime/index.js'
import { localShell } from '../../targets/index.js'
import { cutAtRandom, runsOverCuts } from '../kit/cut-shell.js'

const SHELLS = ['/bin/dash', '/bin/bash', '/usr/bin/busybox'].filter((path) => existsSync(path))
const clock = systemClock()

let place: string
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'ironstage-cuts-'))
})
afterAll(() => rm(place, { recursive: true, force: true }))

describe.each(SHELLS)('a target whose sh is %s', (program) => {
  test.each([1, 2])('loses no outcome and runs nothing twice over a hundred cuts, seed %d', async (seed) => {
    const bin = join(place, `bin-${program.replaceAll('/', '-')}-${seed}`)
    await mkdir(bin)
    await symlink(program, join(bin, 'sh'))
    const shell = localShell(clock, { ...process.env, PATH: `${bin}:${process.env['PATH']}` }, [join(bin, 'sh')])
    const cutting = cutAtRandom(shell, { clock, random: seededRandom(seed), cuts: 100 })
    const envelope = (script: Uint8Array) => Promise.resolve({ line: 'exec sh', stdin: script })
    await runsOverCuts(cutting, { envelope, folder: join(bin, 'runs'), clock, random: systemRandom })
  })
})

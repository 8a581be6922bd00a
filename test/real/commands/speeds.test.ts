import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { deployAt, ended, type Speed } from '../../kit/commands/deploy-process.js'

/** On a machine that does much else. */
const SPEED_TEST_TIMEOUT = 120_000

test.each<Speed>([
  { speed: 600, realistic: true, stateDir: false },
  { speed: 1200, realistic: true, stateDir: true },
  { speed: 1200, realistic: false, stateDir: false },
])(
  'a deployment at speed $speed succeeds (realistic: $realistic, state folder: $stateDir)',
  async (speed) => {
    const { code, output } = await deployAt(speed, SPEED_TEST_TIMEOUT)
    expect(code, output).toBe(0)
    expect(output).toContain('The disk matches the request.')
  },
  2 * SPEED_TEST_TIMEOUT,
)

test(
  'SIGTERM ends a deployment that goes fast',
  async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'ironstage-speed-')), 'disk.img')
    const { code } = await ended(
      ['deploy', '--realistic', '--speed', '600', '--disk-file', file],
      SPEED_TEST_TIMEOUT,
      'wait call-back',
    )
    expect(code).toBe(143)
  },
  2 * SPEED_TEST_TIMEOUT,
)

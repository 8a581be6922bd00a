import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { ironicPeer } from '../ironic.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'

const ROOT = join(import.meta.dirname, '../../..')

test(
  'the table of options is that of the installed Ironic',
  async () => {
    const python = join(await ironicPeer(), 'bin/python')
    const script = join(ROOT, 'scripts/list-ironic-options.js')
    const { stdout } = await promisify(execFile)(process.execPath, [script, python, '--print'], { maxBuffer: 2 ** 24 })
    expect(stdout).toBe(await readFile(join(ROOT, 'ironic-mock/config/option-listing.ts'), 'utf8'))
  },
  REAL_PEER_TIMEOUT,
)

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openInScope } from '../../../../base/runtime/index.js'
import { Baremetal } from './baremetal.js'
import { served, type ServedIronic } from './served.js'

/** An Ironic of ours, the real command for it, and a folder for the command's files. */
export interface CommandedIronic extends AsyncDisposable {
  ironic: ServedIronic
  baremetal: Baremetal
  folder: string
}

/** Installs the command the first time. */
export const commandedIronic = (options?: Parameters<typeof served>[0]): Promise<CommandedIronic> =>
  openInScope(async (scope) => {
    const folder = await mkdtemp(join(tmpdir(), 'ironstage-clients-'))
    scope.onClose(() => rm(folder, { recursive: true, force: true }))
    const ironic = scope.use(await served(options))
    const baremetal = scope.use(await Baremetal.open({ OS_ENDPOINT: ironic.url, OS_AUTH_TYPE: 'none' }))
    return { ironic, baremetal, folder, [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose]() }
  })

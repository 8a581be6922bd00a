import { openInScope } from '../../../../base/runtime/index.js'
import type { ContainerPuller } from '../../site/site-releases.js'
import type { ActorParts } from '../actor.js'
import { runBootImageController } from './boot-images/boot-image-controller.js'
import { runDrainController } from './drain.js'
import { runConfigOperator } from './config-operator.js'
import { runPoolController } from './pools.js'
import { serveConfigs, type ConfigServer } from './config-server.js'

export interface MachineConfigOperatorParts extends ActorParts {
  /** Gives the release image, for its bootimage.json. */
  registry: ContainerPuller
  /** Port of the machine config server; 0 by default, which picks a free one. */
  port?: number
}

/** The machine config operator: its controllers, and its server for computers at their first boot. */
export function runMachineConfigOperator(
  parts: MachineConfigOperatorParts,
): Promise<AsyncDisposable & { readonly server: ConfigServer }> {
  return openInScope(async (scope) => {
    const server = scope.use(await serveConfigs(parts, parts.port))
    scope.use(runConfigOperator(parts, server.url))
    scope.use(runPoolController(parts))
    scope.use(runDrainController(parts))
    scope.use(runBootImageController(parts))
    return { server, [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose]() }
  })
}

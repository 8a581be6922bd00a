import { openInScope } from '../../../../base/runtime/index.js'
import type { ContainerPuller } from '../../site/site-releases.js'
import { runController } from '../../../../base/kubernetes/index.js'
import { BootImageController } from './boot-images/boot-image-controller.js'
import { PlatformBootImages } from './boot-images/platform-boot-images.js'
import type { CloudParts } from './boot-images/updated-sets.js'
import { SettingsController } from './boot-images/settings-controller.js'
import type { InternalRegistry } from '../../site/internal-registry.js'
import { DrainController } from './drain.js'
import { ConfigOperator } from './config-operator.js'
import { InternalReleaseController } from './internal-release/internal-release-controller.js'
import { PoolController } from './pools.js'
import { StreamController } from './streams/stream-controller.js'
import { serveConfigs, type ConfigServer } from './config-server.js'

export interface MachineConfigOperatorParts extends CloudParts {
  /** Gives the release image, for its bootimage.json. */
  registry: ContainerPuller
  /** The registry of the control plane, in a cluster that was installed without another one. */
  internalRegistry?: InternalRegistry
  /** Port of the machine config server; 0 by default, which picks a free one. */
  port?: number
}

/** The machine config operator: its controllers, and its server for computers at their first boot. */
export function runMachineConfigOperator(
  parts: MachineConfigOperatorParts,
): Promise<AsyncDisposable & { readonly server: ConfigServer }> {
  return openInScope(async (scope) => {
    const server = scope.use(await serveConfigs(parts, parts.port))
    const controllers = [
      new ConfigOperator(parts, server.url),
      new PoolController(parts),
      new DrainController(parts),
      ...(parts.behaviours.as === 'today'
        ? [
            new PlatformBootImages(parts),
            new SettingsController(parts),
            new StreamController(parts),
            new InternalReleaseController(parts),
          ]
        : [new BootImageController(parts)]),
    ]
    for (const controller of controllers) scope.use(runController(controller, parts))
    return { server, [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose]() }
  })
}

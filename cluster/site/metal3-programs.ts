import { copyIso } from '../../coreos/index.js'
import { held } from '../../runtime/index.js'
import { PullFailure } from '../../machine/index.js'
import type { ActorParts } from '../actors/actor.js'
import { CONTAINERS } from '../actors/cluster-baremetal-operator.js'
import { runImageCustomizationController } from '../actors/image-customization-controller/image-customization-controller.js'
import type { PodContainer } from '../kube/kinds/apps.js'
import type { PodPrograms, RunningContainer } from './pods.js'
import type { Site } from './site.js'

export interface Metal3Options {
  /** Runs BareMetal Operator; without, Ironic has no client. */
  baremetalOperator?: (container: RunningContainer) => Promise<AsyncDisposable>
}

/** The programs of the pods of metal3: they start what the site has of them, and stop it. */
export function metal3Programs(site: Site, parts: ActorParts, options: Metal3Options = {}): PodPrograms {
  const { baremetalOperator } = options
  const { registriesConf } = site.registry
  // The Service in front of the pods has one address.
  let port = 0
  return {
    init: {
      [CONTAINERS.machineOs]: async ({ image, contents }) => {
        if (contents.folder === undefined) throw new PullFailure(`${image} contains no live images`)
        const copying = { source: contents.folder, destination: site.shared, clock: site.clock }
        await held(site.clock, 'copying the live images', () => copyIso(copying))
      },
    },
    main: {
      [CONTAINERS.ironic]: async () => {
        await site.stage.ironic.start()
        // Its database is in an emptyDir of the pod (cluster-baremetal-operator 4ecb36c provisioning/baremetal_pod.go).
        return { [Symbol.asyncDispose]: () => site.stage.ironic.stop({ keepsDatabase: false }) }
      },
      [CONTAINERS.imageService]: async (container) => {
        const controller = await runImageCustomizationController({
          ...{ ...parts, port, images: site.shared },
          ironicUrl: environment(container, 'IRONIC_BASE_URL'),
          agentImage: environment(container, 'IRONIC_AGENT_IMAGE'),
          ...(registriesConf === undefined ? {} : { registriesConf }),
        })
        port = controller.port
        return controller
      },
      ...(baremetalOperator ? { [CONTAINERS.baremetalOperator]: (container) => baremetalOperator(container) } : {}),
    },
  }
}

const environment = ({ env = [] }: PodContainer, name: string): string =>
  env.find((one) => one.name === name)?.value ?? ''

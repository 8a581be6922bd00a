import { join } from 'node:path'
import { copyMetal } from '../../../coreos/index.js'
import { defined, withClockHeld } from '../../../base/runtime/index.js'
import { bootNetwork } from '../../../lab/index.js'
import { PullFailure } from '../../../machine/index.js'
import type { ActorParts, PodContainer } from '../../../base/kubernetes/index.js'
import { runBareMetalOperator } from '../../../baremetal-operator/index.js'
import { BOOT_ISO_SOURCE, BUILDS_IMAGES, CONTAINERS } from '../actors/cluster-baremetal-operator.js'
import { environment, imagesInShared } from '../actors/image-service-environment.js'
import { HOST_ARCHITECTURE } from '../actors/image-customization-controller/base-images.js'
import type { ImageSite } from '../actors/image-customization-controller/host-images.js'
import { runImageCustomizationController } from '../actors/image-customization-controller/image-customization-controller.js'
import type { PodPrograms, RunningContainer } from './pods.js'
import type { Site } from './site.js'

export interface Metal3Options {
  /** Runs BareMetal Operator; default: the actor, with the settings of its container. */
  baremetalOperator?: (container: RunningContainer) => Promise<AsyncDisposable>
}

/** The programs of the pods of metal3: they start what the site has of them, and stop it. */
export function metal3Programs(site: Site, parts: ActorParts, options: Metal3Options = {}): PodPrograms {
  const { baremetalOperator = (container) => Promise.resolve(operatorIn(container, site, parts)) } = options
  const { registriesConf } = site.registry
  // The Service in front of the pods has one address.
  let port = 0
  let keepsCopies = false
  return {
    init: {
      [CONTAINERS.machineOs]: async ({ image, contents }) => {
        if (contents.folder === undefined) throw new PullFailure(`${image} contains no live images`)
        const { clock, shared: destination } = site
        const copying = { source: contents.folder, destination, architecture: HOST_ARCHITECTURE, clock }
        await withClockHeld(clock, 'copying the live images', () => copyMetal(copying))
      },
    },
    main: {
      [CONTAINERS.ironic]: async (container) => {
        keepsCopies = parts.behaviours.as === 'today' && environment(container, BOOT_ISO_SOURCE) !== 'http'
        await site.stage.ironic.start()
        return {
          [Symbol.asyncDispose]: () => {
            site.isoCopies.clear()
            // Ironic's database is in an emptyDir of the pod (cluster-baremetal-operator 4ecb36c provisioning/baremetal_pod.go).
            return site.stage.ironic.stop({ keepsDatabase: false })
          },
        }
      },
      [CONTAINERS.imageService]: async (container) => {
        const controller = await runImageCustomizationController({
          ...parts,
          behaviours: parts.behaviours.of(container.contents.release),
          port,
          images: join(site.shared, imagesInShared(container)),
          ironicUrl: environment(container, 'IRONIC_BASE_URL'),
          agentImage: environment(container, 'IRONIC_AGENT_IMAGE'),
          site: await siteOf(container, parts),
          ...defined({
            registriesConf: environment(container, 'REGISTRIES_CONF_PATH') === '' ? undefined : registriesConf,
          }),
        })
        port = controller.port
        return {
          [Symbol.asyncDispose]: async () => {
            if (keepsCopies) await site.isoCopies.keep(await isoUrls(parts), bootNetwork({ clock: site.clock }))
            await controller[Symbol.asyncDispose]()
          },
        }
      },
      [CONTAINERS.baremetalOperator]: (container) => baremetalOperator(container),
    },
  }
}

/** The cluster's pull secret, of which cluster-baremetal-operator gives the image service a copy (provisioning/secret.go). */
const PULL_SECRET = { name: 'pull-secret', namespace: 'openshift-config' }

/** Settings of an image service by its environment (image-customization-controller eacc65f pkg/env/env.go). */
async function siteOf(container: PodContainer, { kube }: ActorParts): Promise<ImageSite> {
  const named = (name: string): string | undefined => environment(container, name) || undefined
  const ntp = named('ADDITIONAL_NTP_SERVERS')
  const sshKey = named('IRONIC_RAMDISK_SSH_KEY')
  const proxies = defined({ http: named('HTTP_PROXY'), https: named('HTTPS_PROXY'), no: named('NO_PROXY') })
  return defined({
    ntpServers: ntp?.split(','),
    sshKeys: sshKey === undefined ? undefined : [sshKey],
    ipOptions: named('IP_OPTIONS'),
    pullSecret: (await kube.find('Secret', PULL_SECRET))?.data?.['.dockerconfigjson'],
    proxies: Object.keys(proxies).length === 0 ? undefined : proxies,
  })
}

/** The ISOs that hosts boot now. */
async function isoUrls({ kube }: ActorParts): Promise<string[]> {
  const { items } = await kube.list('PreprovisioningImage')
  return items.flatMap(({ status }) => (status?.format === 'iso' && status.imageUrl ? [status.imageUrl] : []))
}

/** BareMetal Operator as its container starts it. */
function operatorIn(container: RunningContainer, site: Site, parts: ActorParts): AsyncDisposable {
  const [deployKernel, deployRamdisk] = ['DEPLOY_KERNEL_URL', 'DEPLOY_RAMDISK_URL'].map((name) =>
    environment(container, name),
  )
  const buildsImages = container.args?.includes(BUILDS_IMAGES) ?? false
  const ramdisk = deployKernel && deployRamdisk ? { deployKernel, deployRamdisk } : {}
  return runBareMetalOperator({
    ...parts,
    behaviours: parts.behaviours.of(container.contents.release),
    ironic: site.stage,
    settings: { buildsImages, ramdisk },
  })
}

import { defined } from '../../../base/runtime/index.js'
import type { Acted } from './acted.js'
import type { NewHosts, ScenarioStep } from './scenario.js'
import { mirrorImages } from './prepared-releases.js'
import { bootImageSettings, connectHosts, WORKERS } from './installation.js'
import { MACHINE_API_NAMESPACE, type RehearsedCluster } from './rehearsed-cluster.js'
import { chooseDefaultStream, choosePoolStream, chooseRuntime, labelHosts } from './os-stream-acts.js'
import {
  askIronicToClean,
  askToManage,
  clearBootImages,
  correctPasswords,
  fillBoot,
  giveNetworks,
  setPaused,
} from './site-events.js'
import { annotateObject, applyManifests, deleteManifests, deleteNamed } from './manifest-acts.js'
import { waitForObject } from './object-waits.js'
import { installBootstrap, reinstall } from './reinstallation.js'
import { waitUntilSettled } from './wait-until-settled.js'

/** A step that changes the site, or waits. */
export type ActStep = Exclude<ScenarioStep, { expect: unknown }>

type KeysOfUnion<T> = T extends unknown ? keyof T : never
/** The member that a step is known by. */
type ActName = Exclude<
  KeysOfUnion<ActStep>,
  | 'force'
  | 'image'
  | 'within'
  | 'as'
  | 'of'
  | 'index'
  | 'supportedSince'
  | 'boots'
  | 'path'
  | 'text'
  | 'stream'
  | 'key'
  | 'value'
>

interface Act<S> {
  /** The administrator's sentence; none for a step that only waits. */
  says?: (step: S, cluster: RehearsedCluster) => string
  perform: (step: S, cluster: RehearsedCluster) => Promise<Acted>
}
type Acts = { readonly [K in ActName]: Act<Extract<ActStep, Record<K, unknown>>> }

/** The administrator's sentence for a step; undefined for a step that only waits. */
export const actText = (step: ActStep, cluster: RehearsedCluster): string | undefined =>
  actOf(step).says?.(step, cluster)

/** Does what a step says. */
export const performStep = (step: ActStep, cluster: RehearsedCluster): Promise<Acted> =>
  actOf(step).perform(step, cluster)

function actOf(step: ActStep): Act<ActStep> {
  const name = (Object.keys(ACTS) as ActName[]).find((key) => key in step)
  if (name === undefined) throw new Error(`a step without an act: ${JSON.stringify(step)}`)
  return ACTS[name] as Act<never> as Act<ActStep>
}

const INSPECT_ANNOTATION = 'inspect.metal3.io'

/** Steps by name. The first name that a step has counts: new hosts may have a password and a network too. */
const ACTS: Acts = {
  upgrade: {
    says: ({ upgrade, image }, cluster) => {
      const { version } = cluster.release(upgrade)
      return image === undefined
        ? `requests ${version}`
        : `requests ${version}, with the image of ${cluster.release(image).version}`
    },
    perform: async (step, cluster) => {
      cluster.beginUpgrade()
      const { version } = cluster.release(step.upgrade)
      const { image } = cluster.release(step.image ?? step.upgrade).made
      const desiredUpdate = { version, image, force: step.force ?? false }
      await cluster.kube.patch('ClusterVersion', { name: 'version' }, { spec: { desiredUpdate } })
      // The operator looks at it before anything else happens.
      await waitUntilSettled(cluster, 'upgrade', 1000)
      return {}
    },
  },

  wait: {
    perform: async (step, cluster) => {
      const within = step.within === undefined ? undefined : cluster.milliseconds(step.within)
      return actEndedWith(
        typeof step.wait === 'object'
          ? await waitForObject(step.wait, cluster, within)
          : await waitUntilSettled(cluster, step.wait, within),
      )
    },
  },

  mirror: {
    says: ({ mirror }, cluster) => `copies ${cluster.release(mirror).version} to a registry beside the cluster`,
    perform: ({ mirror }, cluster) => {
      mirrorImages(cluster.release(mirror).images, cluster.site)
      return Promise.resolve({})
    },
  },

  apply: {
    says: ({ apply }) => `applies ${apply}`,
    perform: async ({ apply }, cluster) => applyManifests(apply, cluster),
  },

  delete: {
    says: (step) => `deletes the objects of ${step.delete}`,
    perform: async (step, cluster) => deleteManifests(step.delete, cluster),
  },

  remove: {
    says: ({ remove }) => `deletes ${remove}`,
    perform: async ({ remove }, cluster) => deleteNamed(remove, cluster),
  },

  annotate: {
    says: ({ annotate, key, value }) =>
      value === undefined
        ? `removes the annotation ${key} of ${annotate}`
        : `annotates ${annotate} with ${key}=${value}`,
    perform: async (step, cluster) => annotateObject(step, cluster),
  },

  scale: {
    says: ({ scale }) => `scales to ${scale} worker${scale === 1 ? '' : 's'}`,
    perform: async (step, cluster) => {
      const before = { time: cluster.clock.now(), bytes: cluster.pulledBytes }
      await cluster.kube.patch(
        'MachineSet',
        { name: WORKERS, namespace: MACHINE_API_NAMESPACE },
        { spec: { replicas: step.scale } },
      )
      if (step.as === undefined) return {}
      const missing = await waitUntilSettled(cluster, 'nodes')
      const time = cluster.clock.now() - before.time
      const bytes = cluster.pulledBytes - before.bytes
      cluster.measure(step.as, { time, bytes })
      return actEndedWith(missing)
    },
  },

  power: {
    says: ({ power, of, index }) => `turns ${of}${index === undefined ? '' : ` (number ${index})`} ${power}`,
    perform: async ({ power, of, index }, cluster) => {
      const all = await cluster.group(of)
      for (const { name } of index === undefined ? all : all.slice(index, index + 1))
        await cluster.kube.patch(
          'BareMetalHost',
          { name, namespace: MACHINE_API_NAMESPACE },
          { spec: { online: power === 'on' } },
        )
      return actEndedWith(await waitUntilSettled(cluster, of === 'spares' ? 'spares' : 'reboots'))
    },
  },

  connect: {
    says: connectText,
    perform: async ({ connect, supportedSince, ...how }, cluster) => {
      const since = supportedSince === undefined ? undefined : cluster.release(supportedSince).live
      await connectHosts(cluster, connect, { ...how, ...defined({ supportedSince: since }) })
      return {}
    },
  },

  bootImage: {
    says: ({ bootImage }, cluster) =>
      `sets the boot image of the machine sets to that of ${cluster.release(bootImage).version}`,
    perform: async ({ bootImage }, cluster) => {
      const value = bootImageSettings(cluster.release(bootImage), cluster)
      const spec = { template: { spec: { providerSpec: { value } } } }
      await cluster.kube.patch('MachineSet', { name: WORKERS, namespace: MACHINE_API_NAMESPACE }, { spec })
      await waitUntilSettled(cluster, 'upgrade', 60_000)
      return {}
    },
  },

  clear: {
    says: () => 'leaves boot images to the release: none in the machine sets, none in the Provisioning',
    perform: async (_step, cluster) => {
      await clearBootImages(cluster)
      return {}
    },
  },

  manageBootImages: {
    says: ({ manageBootImages, of }) =>
      `sets spec.managedBootImages of the MachineConfiguration to ${manageBootImages}${of === undefined ? '' : ` for the ${of}`}`,
    perform: async ({ manageBootImages, of }, cluster) => {
      await askToManage(manageBootImages, of === undefined ? 'machinesets' : 'controlplanemachinesets', cluster)
      return {}
    },
  },

  tamper: {
    says: ({ tamper, path }) => `changes ${path} on the disk of the ${tamper}`,
    perform: async ({ tamper, path, text }, cluster) => {
      for (const { machine } of await cluster.group(tamper))
        await cluster.until(machine.running.write(path, Buffer.from(text)))
      return {}
    },
  },

  reprovision: {
    says: ({ reprovision }) => `reinstalls the ${reprovision}`,
    perform: async ({ reprovision }, cluster) => reinstall(reprovision, cluster),
  },

  inspect: {
    says: ({ inspect }) => `asks for an inspection of the ${inspect}`,
    perform: async ({ inspect }, cluster) => {
      const metadata = { annotations: { [INSPECT_ANNOTATION]: '' } }
      for (const { name } of await cluster.group(inspect))
        await cluster.kube.patch('BareMetalHost', { name, namespace: MACHINE_API_NAMESPACE }, { metadata })
      return {}
    },
  },

  bootstrap: {
    says: ({ bootstrap }, cluster) => `installs a bootstrap node of ${cluster.release(bootstrap).version}`,
    perform: async ({ bootstrap }, cluster) => installBootstrap(bootstrap, cluster),
  },

  password: {
    says: ({ of }) => `corrects the BMC passwords of the ${of}`,
    perform: async ({ of }, cluster) => {
      await correctPasswords(of, cluster)
      return {}
    },
  },

  network: {
    says: ({ of }) => `gives each of the ${of} its own network settings`,
    perform: async ({ of }, cluster) => {
      await giveNetworks(of, cluster)
      return {}
    },
  },

  hostStream: {
    says: ({ hostStream, of }) => `labels the ${of} with stream ${hostStream}`,
    perform: async ({ hostStream, ...which }, cluster) => {
      await labelHosts(which, hostStream, cluster)
      return {}
    },
  },

  poolStream: {
    says: ({ poolStream, of }) => `chooses stream ${poolStream} for the pool of the ${of}`,
    perform: ({ poolStream, of }, cluster) => choosePoolStream(of, poolStream, cluster),
  },

  defaultStream: {
    says: ({ defaultStream }) => `makes ${defaultStream} the default stream`,
    perform: ({ defaultStream }, cluster) => chooseDefaultStream(defaultStream, cluster),
  },

  runtime: {
    says: ({ runtime, of }) => `has the ${of} start containers with ${runtime}`,
    perform: async ({ runtime, of }, cluster) => {
      await chooseRuntime(of, runtime, cluster)
      return {}
    },
  },

  pause: {
    says: ({ pause }) => `pauses the pool of the ${pause}`,
    perform: async ({ pause }, cluster) => {
      await setPaused(pause, true, cluster)
      return {}
    },
  },

  resume: {
    says: ({ resume }) => `resumes the pool of the ${resume}`,
    perform: async ({ resume }, cluster) => {
      await setPaused(resume, false, cluster)
      return {}
    },
  },

  askIronic: {
    says: ({ askIronic, of }) => `requests from Ironic directly: ${askIronic} the ${of}`,
    perform: async ({ of }, cluster) => {
      await askIronicToClean(of, cluster)
      return {}
    },
  },

  failPulls: {
    says: ({ failPulls, of }, cluster) =>
      `sees the registry fail: the next ${failPulls} pulls of the node image of ${cluster.release(of).version}`,
    perform: async ({ failPulls, of }, cluster) => {
      cluster.site.stage.registry.fail(cluster.release(of).nodeImage, 'timeout', failPulls)
      return {}
    },
  },

  fill: {
    says: ({ fill, of }) => `finds ${fill} of the ${of} full`,
    perform: async ({ of }, cluster) => {
      await fillBoot(of, cluster)
      return {}
    },
  },
}

function connectText(step: NewHosts, cluster: RehearsedCluster): string {
  const { connect, supportedSince } = step
  const since = supportedSince === undefined ? '' : `, supported since ${cluster.release(supportedSince).version}`
  const network = step.boots === undefined ? '' : ', which boot over the network'
  const password = step.password === undefined ? '' : ', with a wrong BMC password'
  const missing = step.network === undefined ? '' : ', whose network settings do not exist yet'
  const stream = step.stream === undefined ? '' : ` of stream ${step.stream}`
  return `connects ${connect} new host${connect === 1 ? '' : 's'}${stream}${since}${network}${password}${missing}`
}

/** The end of an act that waited: a failure if something is still missing. */
function actEndedWith(failure: string | null): Acted {
  return failure === null ? {} : { failure }
}

import { conditionOf, type BareMetalHost, type Condition } from '../../../base/kubernetes/index.js'
import { POOL_NAMES } from './os-stream-acts.js'
import { defined } from '../../../base/runtime/index.js'
import { deletionRefusal, eventsAbout, objectNamed } from './named-objects.js'
import { nodeInIronic } from './site-events.js'
import type { Expectation, HostGroup } from './scenario.js'
import type { RehearsedCluster, RehearsedHost } from './rehearsed-cluster.js'

/** The result of an expectation: `found` is a sentence in place of the expected one. */
export interface CheckResult {
  expects: string
  found?: string
}

type KeysOfUnion<T> = T extends unknown ? keyof T : never
/** The member that an expectation is known by. */
type ExpectationName = Exclude<
  KeysOfUnion<Expectation>,
  'of' | 'index' | 'because' | 'is' | 'times' | 'than' | 'by' | 'since' | 'stream' | 'version'
>
type ExpectationChecks = {
  readonly [K in ExpectationName]: (
    expectation: Extract<Expectation, Record<K, unknown>>,
    cluster: RehearsedCluster,
  ) => CheckResult | Promise<CheckResult>
}

/** Looks whether an expectation holds now. */
export async function checkExpectation(expectation: Expectation, cluster: RehearsedCluster): Promise<CheckResult> {
  const name = Object.keys(expectation).find((key) => key in CHECKS) as ExpectationName | undefined
  if (name === undefined) throw new Error(`an expectation without a check: ${JSON.stringify(expectation)}`)
  return CHECKS[name](expectation as never, cluster)
}

const CHECKS: ExpectationChecks = {
  deployImage: (expectation, cluster) => {
    const { version, ...release } = cluster.release(expectation.deployImage)
    const deployImage = release.streams.get(expectation.stream ?? '')?.coreos ?? release.deployImage
    return everyHost(cluster, expectation, `has the deploy image of ${version} (${deployImage})`, async (host) => {
      const image = await cluster.deployImageOf(host)
      return image === deployImage ? undefined : `has ${image ?? 'no deploy image'}`
    })
  },

  runs: (expectation, cluster) => {
    const { version, ...release } = cluster.release(expectation.runs)
    const { coreos } = release.streams.get(expectation.stream ?? '') ?? release
    return everyHost(cluster, expectation, `runs ${version} (${coreos})`, (host) => {
      const os = host.machine.os()
      if (host.machine.boot()?.outcome !== 'disk' || !os) return 'runs no installed system'
      if (os.booted.version !== coreos) return `runs ${os.booted.version}`
      return os.kubelet === 'may start' ? undefined : `has a kubelet that ${os.kubelet}`
    })
  },

  installedFrom: (expectation, cluster) => {
    const { version, bootImage, live } = cluster.release(expectation.installedFrom)
    return everyHost(
      cluster,
      expectation,
      `was installed from the boot image of ${version}`,
      ({ name, object, machine }) => {
        const url = object?.status?.provisioning.image?.url ?? cluster.site.cloud.imageOf(name)
        const base = machine.os()?.base
        // A host without an image was installed by its deploy image from itself.
        if (url === undefined || url === '')
          return base === live ? undefined : `was installed by the deploy image ${base ?? 'of an unknown release'}`
        const of = cluster.releaseOfBootImage(url)
        if (of?.version === version || of?.bootImage === bootImage) return undefined
        return `was installed from ${of ? `that of ${of.version}` : (url ?? 'nothing')}`
      },
    )
  },

  method: (expectation, cluster) =>
    everyHost(cluster, expectation, `was installed by ${INSTALL_METHODS[expectation.method]}`, ({ object }) => {
      const found = object?.status?.provisioning.customDeploy ? 'coreos' : 'qcow2'
      return found === expectation.method ? undefined : `was installed by ${INSTALL_METHODS[found]}`
    }),

  state: (expectation, cluster) =>
    everyHost(cluster, expectation, `is ${expectation.state}`, ({ object }) => {
      const state = object?.status?.provisioning.state ?? 'unknown'
      return state === expectation.state ? undefined : `is ${state}${errorOf(object)}`
    }),

  agent: (expectation, cluster) => {
    const { version, agentImage } = cluster.release(expectation.agent)
    return everyHost(cluster, expectation, `runs the agent of ${version}`, ({ machine }) => {
      const image = machine.lastBoot()?.live?.agent?.image
      if (image === agentImage) return undefined
      const other = image === undefined ? undefined : cluster.releaseOfAgent(image)
      return image === undefined ? 'runs no agent' : `runs ${other ? `that of ${other.version}` : image}`
    })
  },

  reboots: (expectation, cluster) => {
    const { reboots, since } = expectation
    const into = expectation.of === 'spares' ? 'ramdisk' : 'disk'
    const expected = `was rebooted ${times(reboots)} since ${since === 'upgrade' ? 'the' : 'its'} ${since}`
    return everyHost(cluster, expectation, expected, ({ machine }) => {
      const found = cluster.measures.rebootsSince(machine.spec.id, since, into)
      return found === reboots ? undefined : `was rebooted ${times(found)}`
    })
  },

  poolStream: async ({ poolStream, of }, { kube }) => {
    const { status } = await kube.get('MachineConfigPool', { name: POOL_NAMES[of] })
    const found = status?.osImageStream?.name ?? 'none'
    const expects = `the pool of the ${of} runs ${poolStream === 'none' ? 'no stream' : `stream ${poolStream}`}`
    return found === poolStream ? { expects } : { expects, found: `it runs ${found}` }
  },

  unrendered: async (expectation, { kube }) => {
    const { unrendered: pool, because: text = '' } = expectation
    const { status } = await kube.get('MachineConfigPool', { name: POOL_NAMES[pool] })
    const { status: is = 'Unknown', message = '' } = conditionOf(status?.conditions, 'RenderDegraded') ?? {}
    const expects = `the pool of the ${pool} is not rendered${because(expectation)}`
    if (is === 'True' && message.includes(text)) return { expects }
    return { expects, found: message === '' ? 'it is' : message }
  },

  event: ({ event, of, because: text }, cluster) => {
    const [kind = '', name = ''] = of.split('/')
    const expects = `${of} has the event ${event}${because({ ...defined({ because: text }) })}`
    const events = eventsAbout(cluster, kind, name) as { reason?: string; message?: string }[]
    const isSo = events.some(({ reason, message }) => reason === event && (message ?? '').includes(text ?? ''))
    if (isSo) return { expects }
    const reasons = [...new Set(events.map(({ reason }) => reason))].join(', ')
    return { expects, found: reasons === '' ? 'it has none' : `it has ${reasons}` }
  },

  condition: (expectation, cluster) => {
    const { condition: type, of, is } = expectation
    const { status } = (objectNamed(cluster, of) ?? {}) as { status?: { conditions?: Condition[] } }
    const found = conditionOf(status?.conditions, type)
    const expects = `${type} of ${of} is ${is}${because(expectation)}`
    if (found?.status === is && (found.message ?? '').includes(expectation.because ?? '')) return { expects }
    return { expects, found: found ? `it is ${found.status}: ${found.message ?? ''}` : 'there is no such condition' }
  },

  deletion: (expectation, cluster) => {
    const { deletion, of } = expectation
    const expects = `the deletion of ${of} is ${deletion}${because(expectation)}`
    const refusal = deletionRefusal(cluster, of)
    const found = refusal === undefined ? 'allowed' : 'refused'
    if (found === deletion && (refusal ?? '').includes(expectation.because ?? '')) return { expects }
    return { expects, found: refusal === undefined ? 'it is allowed' : `it is refused: ${refusal}` }
  },

  internalRegistry: (expectation, cluster) => {
    const wanted = expectation.internalRegistry
    const does = { served: 'serves the internal release image', stopped: 'serves no internal release image' }
    return everyHost(cluster, expectation, does[wanted], ({ machine }) => {
      const found = cluster.site.internalRegistry?.servesOn(machine) === true ? 'served' : 'stopped'
      return found === wanted ? undefined : does[found]
    })
  },

  degraded: (expectation, cluster) =>
    everyHost(cluster, { of: expectation.degraded }, `is degraded${because(expectation)}`, async ({ name }) => {
      const node = await cluster.kube.find('Node', { name })
      const { [`${MCD}/state`]: state = 'unknown', [`${MCD}/reason`]: reason = '' } = node?.metadata.annotations ?? {}
      if (state === 'Degraded' && reason.includes(expectation.because ?? '')) return undefined
      return `is ${state}${reason === '' ? '' : `: ${reason}`}`
    }),

  error: (expectation, cluster) => {
    const { error: wanted } = expectation
    const expected = wanted === 'none' ? 'shows no error' : `shows an error (${wanted})`
    return everyHost(cluster, expectation, expected, ({ object }) => {
      const shown = object?.status?.errorMessage ?? ''
      if (wanted === 'none' ? shown === '' : shown.includes(wanted)) return undefined
      return shown === '' ? 'shows no error' : `shows ${object?.status?.errorType ?? 'an error'}: ${shown}`
    })
  },

  ironic: (expectation, cluster) =>
    everyHost(cluster, expectation, `is ${expectation.ironic} in Ironic`, async ({ object }) => {
      const node = await nodeInIronic(cluster, object?.status?.provisioning.ID ?? '')
      const state = node?.provision_state
      return state === expectation.ironic ? undefined : `is ${state ?? 'unknown to it'}`
    }),

  network: (expectation, cluster) =>
    everyHost(cluster, expectation, 'has a deploy image with its own network settings', ({ name, machine }) => {
      const files = machine.boot()?.live?.files ?? []
      const written = files.find(({ path }) => path.endsWith('.nmconnection'))
      const settings = Buffer.from(written?.base64 ?? '', 'base64').toString()
      const address = /^address\d*=([^/\n]+)/m.exec(settings)?.[1]
      const own = cluster.addresses.get(name)
      if (own !== undefined && address === own) return undefined
      return address === undefined ? 'runs one without any' : `runs one with ${address} instead of ${own}`
    }),

  away: async ({ away, of }, cluster) => {
    const machines = (await cluster.group(of)).map(({ machine }) => machine.spec.id)
    const found = cluster.measures.mostAwaySince(machines, 'upgrade')
    const expects = `at most ${away} of the ${of} ${away === 1 ? 'is' : 'are'} away at once`
    return found <= away ? { expects } : { expects, found: `${found} were` }
  },

  workloads: (_expectation, { measures }) => {
    const expects = 'no node goes down under its workloads'
    const [node] = measures.cutOff
    return node === undefined ? { expects } : { expects, found: `${node} did` }
  },

  refusedLogins: ({ refusedLogins: most, of }, cluster) =>
    everyHost(cluster, { of }, `has a BMC that refused at most ${most} logins`, ({ object }) => {
      const found = cluster.measures.refusedLogins(object?.status?.provisioning.ID ?? '')
      return found <= most ? undefined : `has one that refused ${found} logins`
    }),

  networkBoots: ({ networkBoots: most }, { measures }) => {
    const found = measures.mostNetworkBoots
    const expects = `at most ${most} hosts boot over the network at once`
    return found <= most ? { expects } : { expects, found: `${found} did` }
  },

  upgrade: async (expectation, cluster) => {
    const { status } = await cluster.kube.get('ClusterVersion', { name: 'version' })
    const [entry] = status?.history ?? []
    const accepted = conditionOf(status?.conditions, 'ReleaseAccepted')
    const failing = conditionOf(status?.conditions, 'Failing')
    const isRefused = accepted?.status === 'False'
    const found = isRefused
      ? 'refused'
      : entry?.state === 'Completed'
        ? 'completed'
        : failing?.status === 'True'
          ? 'failing'
          : 'under way'
    const message = (isRefused ? accepted.message : failing?.message) ?? ''
    const expects = `the upgrade is ${expectation.upgrade}${because(expectation)}`
    const isSo = found === expectation.upgrade && message.includes(expectation.because ?? '')
    return isSo ? { expects } : { expects, found: `it is ${found}${message === '' ? '' : `: ${message}`}` }
  },

  bootImageOf: async (expectation, cluster) => {
    const wanted = expectation.is === NO_BOOT_IMAGE ? undefined : cluster.release(expectation.is)
    const isOfSets = expectation.bootImageOf === 'machine sets'
    const who = isOfSets ? 'machine sets install' : 'the control plane machine set installs'
    const expects = wanted ? `${who} the boot image of ${wanted.version}` : 'machine sets name no boot image'
    const images = await cluster.bootImagesOf(isOfSets ? 'MachineSet' : 'ControlPlaneMachineSet')
    const other = images.find((image) => cluster.releaseOfBootImage(image)?.version !== wanted?.version)
    if (other === undefined) return { expects }
    const found = other === '' ? 'none that they name' : (cluster.releaseOfBootImage(other)?.version ?? other)
    return { expects, found: `they install ${found}` }
  },

  refused: (expectation, cluster) => {
    const isOne = expectation.refused === 'boot image'
    const expects = `${isOne ? 'the boot image is' : 'managed boot images are'} refused${because(expectation)}`
    const who = isOne ? 'machine-config' : 'kube-apiserver'
    const refusal = cluster.notices.findLast(({ actor, does }) => actor.startsWith(who) && /boot image/.test(does))
    const text = `${refusal?.does ?? ''} ${refusal?.because ?? ''}`
    if (refusal && text.includes(expectation.because ?? '')) return { expects }
    return { expects, found: refusal ? `the last action was: ${text.trim()}` : 'nothing was done about it' }
  },

  pulled: (expectation, cluster) => {
    const found = cluster.pulls(expectation.pulled, expectation.of)
    const { version } = cluster.release(expectation.of)
    const expects = `the ${expectation.pulled} of ${version} is fetched ${times(expectation.times)}`
    return found === expectation.times ? { expects } : { expects, found: `it was fetched ${times(found)}` }
  },

  reached: (_expectation, cluster) => {
    const expects = 'nothing is fetched from outside the site'
    const [first] = cluster.outsideAccesses()
    return first === undefined ? { expects } : { expects, found: `${first} was requested` }
  },

  skew: async ({ skew }, cluster) => {
    const found = await cluster.skew()
    const expects = skew.length === 0 ? 'all places name the same boot image' : `${skew.join(' and ')} differ`
    const isSo = skew.length === 0 ? found.length === 0 : skew.every((place) => found.join(' ').includes(place))
    return isSo ? { expects } : { expects, found: found.length === 0 ? 'no difference was named' : found.join('; ') }
  },

  skewMode: async ({ skewMode, version }, cluster) => {
    const settings = await cluster.kube.find('MachineConfiguration', { name: 'cluster' })
    const { mode = 'not enforced', manual, automatic } = settings?.status?.bootImageSkewEnforcementStatus ?? {}
    const found = manual?.ocpVersion ?? manual?.rhcosVersion ?? automatic?.ocpVersion
    const expects = `boot image skew is enforced in mode ${skewMode}${version === undefined ? '' : ` (${version})`}`
    if (mode === skewMode && (version === undefined || version === found)) return { expects }
    return { expects, found: `it is ${mode}${found === undefined ? '' : ` (${found})`}` }
  },

  upgradeable: async (expectation, cluster) => {
    const { status } = await cluster.kube.get('ClusterVersion', { name: 'version' })
    const found = conditionOf(status?.conditions, 'Upgradeable')
    const { message = '' } = found ?? {}
    const isUpgradeable = found?.status !== 'False'
    const sentences = { true: 'every operator allows another minor release', false: 'an operator is against it' }
    const expects = `${expectation.upgradeable ? sentences.true : `another minor release is refused`}${because(expectation)}`
    const isSo = isUpgradeable === expectation.upgradeable && message.includes(expectation.because ?? '')
    return isSo ? { expects } : { expects, found: isUpgradeable ? sentences.true : `${sentences.false}: ${message}` }
  },

  operator: async (expectation, cluster) => {
    const { operator: name, is } = expectation
    const found = await cluster.kube.find('ClusterOperator', { name })
    const degraded = conditionOf(found?.status?.conditions, 'Degraded')
    const state = degraded?.status === 'True' ? 'degraded' : 'healthy'
    const { message = '' } = degraded ?? {}
    const expects = `operator ${name} is ${is}${because(expectation)}`
    if (found && state === is && message.includes(expectation.because ?? '')) return { expects }
    return { expects, found: found ? `it is ${state}${message === '' ? '' : `: ${message}`}` : 'there is none' }
  },

  rollOuts: ({ rollOuts }, cluster) => {
    const found = cluster.noticesOfUpgrade.flatMap(({ does }) => /^rolls out (\S+)/.exec(does)?.[1] ?? [])
    const expects =
      rollOuts.length === 0
        ? 'nothing of metal3 is rolled out'
        : `metal3 is rolled out in this order: ${rollOuts.join(', ')}`
    if (JSON.stringify(found) === JSON.stringify(rollOuts)) return { expects }
    return { expects, found: found.length === 0 ? 'nothing was rolled out' : `it was ${found.join(', ')}` }
  },

  faster: (expectation, cluster) => {
    const one = cluster.measured(expectation.faster)
    const other = cluster.measured(expectation.than)
    const least = expectation.by === undefined ? 0 : cluster.milliseconds(expectation.by)
    const expects = `a worker ${expectation.faster} comes ${expectation.by ?? ''} sooner`.replaceAll('  ', ' ')
    const saved = other.time - one.time
    return saved >= least && saved > 0
      ? { expects }
      : { expects, found: `it comes ${Math.round(saved / 1000)} s sooner` }
  },

  fewerBytes: (expectation, cluster) => {
    const one = cluster.measured(expectation.fewerBytes)
    const other = cluster.measured(expectation.than)
    const expects = `a worker ${expectation.fewerBytes} pulls fewer bytes`
    return one.bytes < other.bytes ? { expects } : { expects, found: `${one.bytes} bytes instead of ${other.bytes}` }
  },
}

/** In place of a release: machine sets name no image. */
export const NO_BOOT_IMAGE = 'none'

const MCD = 'machineconfiguration.openshift.io'
const INSTALL_METHODS = { coreos: 'install_coreos', qcow2: 'its QCOW2 image' } as const

const times = (number: number): string => (number === 1 ? 'once' : `${number} times`)
const because = ({ because: text }: { because?: string }): string => (text === undefined ? '' : ` (${text})`)
const errorOf = (host: BareMetalHost | undefined): string =>
  host?.status?.errorMessage ? `: ${host.status.errorMessage}` : ''

/** Looks at each computer of a group; the first that differs is named. */
async function everyHost(
  cluster: RehearsedCluster,
  { of, index }: { of: HostGroup; index?: number },
  expected: string,
  differs: (host: RehearsedHost) => string | undefined | Promise<string | undefined>,
): Promise<CheckResult> {
  const all = await cluster.group(of)
  const hosts = index === undefined ? all : all.slice(index, index + 1)
  const whom = index === undefined ? `each of the ${of}` : (hosts[0]?.name ?? `number ${index} of the ${of}`)
  const expects = `${whom} ${expected}`
  if (hosts.length === 0) return { expects, found: 'there are no such hosts' }
  for (const host of hosts) {
    const found = await differs(host)
    if (found !== undefined) return { expects, found: `${host.name} ${found}` }
  }
  return { expects }
}

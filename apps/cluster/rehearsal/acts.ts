import type { ScenarioStep } from './scenario.js'
import { connectHosts, providerSpec, WORKERS } from './installation.js'
import { MACHINE_API_NAMESPACE, type RehearsedCluster } from './rehearsed-cluster.js'
import { askIronicToClean, correctPasswords, fillBoot, giveNetworks, setPaused } from './site-events.js'
import { installBootstrap, reinstall } from './reinstallation.js'
import { waitUntilSettled } from './wait-until-settled.js'

/** Result of a step: `failure` ends the story. */
export interface Acted {
  failure?: string
}

/** The administrator's sentence for a step; undefined for a step that only waits or looks. */
export function actText(step: ScenarioStep, cluster: RehearsedCluster): string | undefined {
  const versionOf = (key: string): string => cluster.release(key).version
  if ('upgrade' in step) {
    const image = step.image === undefined ? '' : `, and names the image of ${versionOf(step.image)}`
    return `asks for ${versionOf(step.upgrade)}${image}`
  }
  if ('scale' in step) return `wants ${step.scale} worker${step.scale === 1 ? '' : 's'}`
  if ('power' in step)
    return `turns ${step.of}${step.index === undefined ? '' : ` (number ${step.index})`} ${step.power}`
  if ('connect' in step) {
    const since = step.supportedSince === undefined ? '' : `, known to ${versionOf(step.supportedSince)} and later`
    const network = step.boots === undefined ? '' : ', which boot over the network'
    const password = step.password === undefined ? '' : ', with a wrong password of their BMCs'
    const missing = step.network === undefined ? '' : ', with network settings that are not written yet'
    return `connects ${step.connect} new host${step.connect === 1 ? '' : 's'}${since}${network}${password}${missing}`
  }
  if ('reprovision' in step) return `installs the ${step.reprovision} again`
  if ('bootImage' in step) return `gives the machine sets the boot image of ${versionOf(step.bootImage)}`
  if ('bootstrap' in step) return `installs a bootstrap node of ${versionOf(step.bootstrap)}`
  if ('tamper' in step) return `changes ${step.path} on the disk of the ${step.tamper}`
  if ('password' in step) return `corrects the password of the BMCs of the ${step.of}`
  if ('network' in step) return `gives each of the ${step.of} network settings of its own`
  if ('pause' in step) return `pauses the pool of the ${step.pause}`
  if ('resume' in step) return `lets the pool of the ${step.resume} go on`
  if ('askIronic' in step) return `asks Ironic to ${step.askIronic} the ${step.of}, past the cluster`
  if ('failPulls' in step)
    return `sees the registry fail: the next ${step.failPulls} pulls of the node image of ${versionOf(step.of)}`
  if ('fill' in step) return `finds ${step.fill} of the ${step.of} full`
  return undefined
}

/** Does what a step says; expectations are looked at elsewhere. */
export async function performStep(step: ScenarioStep, cluster: RehearsedCluster): Promise<Acted> {
  const { kube } = cluster
  if ('upgrade' in step) {
    cluster.measures.mark('upgrade')
    const { version } = cluster.release(step.upgrade)
    const { image } = cluster.release(step.image ?? step.upgrade).made
    const desiredUpdate = { version, image, force: step.force ?? false }
    await kube.patch('ClusterVersion', { name: 'version' }, { spec: { desiredUpdate } })
    // The operator looks at it before anything else happens.
    await waitUntilSettled(cluster, 'upgrade', 1000)
    return {}
  }
  if ('wait' in step) {
    const within = step.within === undefined ? undefined : cluster.milliseconds(step.within)
    const missing = await waitUntilSettled(cluster, step.wait, within)
    return missing === null ? {} : { failure: `after a day ${missing}` }
  }
  if ('scale' in step) {
    const before = { time: cluster.clock.now(), bytes: cluster.pulledBytes }
    await kube.patch(
      'MachineSet',
      { name: WORKERS, namespace: MACHINE_API_NAMESPACE },
      { spec: { replicas: step.scale } },
    )
    if (step.as === undefined) return {}
    const missing = await waitUntilSettled(cluster, 'nodes')
    const time = cluster.clock.now() - before.time
    const bytes = cluster.pulledBytes - before.bytes
    cluster.measure(step.as, { time, bytes })
    return missing === null ? {} : { failure: `after a day ${missing}` }
  }
  if ('power' in step) {
    const all = await cluster.group(step.of)
    for (const { name } of step.index === undefined ? all : all.slice(step.index, step.index + 1))
      await kube.patch(
        'BareMetalHost',
        { name, namespace: MACHINE_API_NAMESPACE },
        { spec: { online: step.power === 'on' } },
      )
    const missing = await waitUntilSettled(cluster, step.of === 'spares' ? 'spares' : 'reboots')
    return missing === null ? {} : { failure: `after a day ${missing}` }
  }
  if ('connect' in step) {
    const { connect, supportedSince, ...how } = step
    const since = supportedSince === undefined ? {} : { supportedSince: cluster.release(supportedSince).coreos }
    await connectHosts(cluster, connect, { ...how, ...since })
    return {}
  }
  if ('bootImage' in step) {
    const { image } = providerSpec(cluster.release(step.bootImage), 'worker')
    const spec = { template: { spec: { providerSpec: { value: { image } } } } }
    await kube.patch('MachineSet', { name: WORKERS, namespace: MACHINE_API_NAMESPACE }, { spec })
    await waitUntilSettled(cluster, 'upgrade', 60_000)
    return {}
  }
  if ('tamper' in step) {
    for (const { machine } of await cluster.group(step.tamper))
      await cluster.until(machine.running.write(step.path, Buffer.from(step.text)))
    return {}
  }
  if ('reprovision' in step) return reinstall(step.reprovision, cluster)
  if ('bootstrap' in step) return installBootstrap(step.bootstrap, cluster)
  if ('password' in step) await correctPasswords(step.of, cluster)
  else if ('network' in step) await giveNetworks(step.of, cluster)
  else if ('pause' in step) await setPaused(step.pause, true, cluster)
  else if ('resume' in step) await setPaused(step.resume, false, cluster)
  else if ('askIronic' in step) await askIronicToClean(step.of, cluster)
  else if ('failPulls' in step)
    cluster.site.stage.registry.fail(cluster.release(step.of).nodeImage, 'timeout', step.failPulls)
  else if ('fill' in step) await fillBoot(step.of, cluster)
  return {}
}

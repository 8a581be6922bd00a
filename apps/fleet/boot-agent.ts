import { bytesSource } from '../../base/bytes/index.js'
import type { BootNetwork } from '../../machine/index.js'

/**
 * Parameters of an agent that the fleet boots without Ironic's media. Like fake-ipa it sends inspection data at every boot: it
 * does not know whether Ironic waits for them.
 */
export function agentParameters(ironicUrl: string): Record<string, string> {
  const url = ironicUrl.replace(/\/+(v1\/*)?$/, '')
  return { 'ipa-api-url': url, 'ipa-inspection-callback-url': `${url}/v1/continue_inspection` }
}

/** A host that is in no network (RFC 6761). */
const SERVER = 'http://boot.fleet.invalid'

/** A network whose boot server starts an agent that calls one Ironic on every machine. */
export function agentNetwork(network: BootNetwork, ironicUrl: string): BootNetwork {
  const parameters = Object.entries(agentParameters(ironicUrl)).map(([name, value]) => `${name}=${value}`)
  const script = `${SERVER}/boot.ipxe`
  const files = new Map([
    [script, ['#!ipxe', `kernel kernel ${parameters.join(' ')}`, 'initrd ramdisk', 'boot', ''].join('\n')],
    [`${SERVER}/kernel`, 'kernel'],
    [`${SERVER}/ramdisk`, 'ramdisk'],
  ])
  return {
    ...network,
    bootScript: script,
    open: (url, options) => {
      const text = files.get(url)
      return text === undefined ? network.open(url, options) : Promise.resolve(bytesSource(Buffer.from(text)))
    },
  }
}

import { readFile } from 'node:fs/promises'
import { defined, seconds, withClockHeld, type Clock } from '../../../base/runtime/index.js'
import type { HttpThrough, ProxySettings } from '../../../base/bytes/index.js'
import type { ConductorConf } from '../core/conductor-conf.js'
import type { RegistryClientOptions } from './registry-client.js'

export type RegistryRules = Pick<ConductorConf, 'ociAuthenticationFile' | 'ociPermitsHttp' | 'ociVerifyCa'>

export interface RegistryCaller {
  clock: Clock
  proxies: ProxySettings | undefined
  through: HttpThrough | undefined
  signal: AbortSignal
}

/** Upstream's `[DEFAULT]webserver_connection_timeout`. */
const REGISTRY_TIMEOUT = seconds(60)

/** How a registry is asked for one image. */
export async function registryAccess(caller: RegistryCaller, rules: RegistryRules): Promise<RegistryClientOptions> {
  const { clock, proxies, through, signal } = caller
  const limits = { connect: REGISTRY_TIMEOUT, header: REGISTRY_TIMEOUT }
  const insecure = /^(?:false|f|no|n|off|0)$/i.test(rules.ociVerifyCa)
  const ca = await authoritiesOf(rules.ociVerifyCa, clock)
  return {
    clock,
    signal,
    permitsHttp: rules.ociPermitsHttp,
    authenticationFile: rules.ociAuthenticationFile,
    http: { clock, redirects: 30, limits, insecure, ...defined({ proxies, through, ca }) },
  }
}

/** The file that `verify_ca` names; one that is not there leaves the usual authorities, as in Ironic. */
async function authoritiesOf(verify: string, clock: Clock): Promise<string | undefined> {
  if (!verify.includes('/')) return undefined
  return withClockHeld(clock, `reading ${verify}`, () => readFile(verify, 'utf8').catch(() => undefined))
}

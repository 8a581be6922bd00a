import type { Machine } from '../../../machine/index.js'
import { isSameSecret } from '../../../base/runtime/index.js'
import type { WireRequest } from '../../../base/wire/index.js'
import { messageRefusal, type Refusal } from '../protocol/redfish-refusal.js'
import type { ServiceParts } from '../service-parts.js'
import { basicCredentials, type RedfishCredentials } from './redfish-credentials.js'

/**
 * The caller of a request, by session or Basic credentials. A resource of a machine asks for that machine's account, all
 * others for that of any machine.
 *
 * @throws Refusal 401
 */
export function authenticate(
  service: Pick<ServiceParts, 'accounts' | 'machines' | 'sessions'>,
  { headers }: WireRequest,
  machine: Machine | undefined,
): RedfishCredentials {
  const { 'x-auth-token': token, authorization } = headers
  const caller =
    token === undefined
      ? authorization === undefined
        ? undefined
        : basicCredentials(authorization)
      : service.sessions.use(token)?.credentials
  if (!caller) throw unauthorizedRefusal()
  const isLetIn = machine ? service.accounts.admits(machine, caller) : opensAny(service, caller)
  if (!isLetIn) throw unauthorizedRefusal()
  return caller
}

/** Whether credentials are those of any machine. */
export function opensAny(
  { accounts, machines }: Pick<ServiceParts, 'accounts' | 'machines'>,
  caller: RedfishCredentials,
): boolean {
  for (const machine of machines.list()) {
    const account = accounts.of(machine)
    if (account === undefined) {
      if (caller.password !== '') return true
    } else if (account.username === caller.username && isSameSecret(account.password, caller.password)) return true
  }
  return false
}

export const unauthorizedRefusal = (): Refusal =>
  messageRefusal(401, 'NoValidSession', [], {
    resolution: 'Send Basic credentials, or the X-Auth-Token of a session.',
    headers: { 'www-authenticate': 'Basic realm="RedfishService"' },
  })

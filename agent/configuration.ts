import { UserError } from '../runtime/index.js'
import type { AgentConfig } from './state.js'

/**
 * What kernel parameters make of the agent: the `ipa-*` options with IPA's defaults (facts/ironic-python-agent.md 5).
 * Inspection is asked for by a callback URL, or by a list of collectors together with an API URL. Ironic boots machines
 * that it only inspects with a callback URL alone.
 *
 * @throws UserError without any URL, or with one that is none
 */
export function parseConfiguration(
  parameters: Readonly<Record<string, string>>,
): AgentConfig & { collectors: string[] } {
  const apiUrls = urls(parameters, 'ipa-api-url')
  const callbacks = urls(parameters, 'ipa-inspection-callback-url')
  if (apiUrls.length === 0 && callbacks.length === 0)
    throw new UserError('AGENT_API_URL', 'the agent was started without ipa-api-url, so it cannot find its Ironic', {
      remedy: 'give the ramdisk the kernel parameter ipa-api-url=http://HOST:6385',
    })
  const collectors = list(parameters['ipa-inspection-collectors'])
  const fromApi = collectors.length > 0 ? apiUrls.map((url) => `${url}/v1/continue_inspection`) : []
  return {
    apiUrls,
    inspectionUrls: callbacks.length > 0 ? callbacks : fromApi,
    collectors: collectors.length > 0 ? collectors : ['default', 'logs'],
    lookupTimeout: secondsOf(parameters, 'ipa-lookup-timeout', 600),
    lookupInterval: secondsOf(parameters, 'ipa-lookup-interval', 1),
    agentToken: parameters['ipa-agent-token'] ?? null,
  }
}

/** What is left of it for an agent that no Ironic knows of. */
export const standaloneConfiguration = (token: string): AgentConfig & { collectors: string[] } => ({
  ...{ apiUrls: [], inspectionUrls: [], collectors: [], lookupTimeout: 0, lookupInterval: 0 },
  agentToken: token,
})

const list = (text: string | undefined): string[] =>
  (text ?? '')
    .split(',')
    .map((item) => item.trim().replace(/\/+$/, ''))
    .filter((item) => item !== '')

function urls(parameters: Readonly<Record<string, string>>, name: string): string[] {
  const found = list(parameters[name])
  for (const url of found)
    if (!/^https?:\/\/./.test(url))
      throw new UserError('AGENT_URL', `the agent was started with ${name}=${url}, which is no http(s) URL`, {
        remedy: 'give a URL of the Ironic API, for example http://192.0.2.1:6385',
      })
  return found
}

function secondsOf(parameters: Readonly<Record<string, string>>, name: string, otherwise: number): number {
  const text = parameters[name]
  if (text === undefined) return otherwise * 1000
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new UserError(
      'AGENT_PARAMETER',
      `the agent was started with ${name}=${text}, which is no number of seconds`,
      {
        remedy: `leave it out for ${otherwise} seconds`,
      },
    )
  return value * 1000
}

import { fetch } from 'undici'
import { held, UserError, type Clock } from '../runtime/index.js'
import { IGNITION_TYPE, LARGEST_RESOURCE, NEWEST_STABLE, type Fetch } from '../ignition/index.js'

/**
 * Fetches what an Ignition config refers to by http and https, asking for configs as Ignition does.
 *
 * @throws UserError `ignition-fetch`
 */
export function ignitionFetch({ clock, signal }: { clock: Clock; signal: AbortSignal }): Fetch {
  return async ({ source = '', httpHeaders = [] }) => {
    const failed = (why: string, cause?: unknown) =>
      new UserError('ignition-fetch', `fetching ${withoutSecrets(source)} failed: ${why}`, {
        remedy: 'Only http and https are fetched here; see that the server answers.',
        ...(cause === undefined ? {} : { cause }),
      })
    if (!/^https?:/i.test(source)) throw failed('its scheme is none of http and https')
    const headers = new Headers({ accept: `${IGNITION_TYPE};version=${NEWEST_STABLE}, */*;q=0.1` })
    for (const { name = '', value } of httpHeaders) if (value) headers.set(name, value)
    return held(clock, `fetching ${withoutSecrets(source)}`, async () => {
      const parts: Uint8Array[] = []
      let size = 0
      try {
        const response = await fetch(source, { headers: [...headers], signal })
        if (!response.ok) throw failed(`the server answered ${response.status}`)
        for await (const part of response.body ?? []) {
          size += (part as Uint8Array).byteLength
          if (size > LARGEST_RESOURCE) throw failed(`it has more than ${LARGEST_RESOURCE} bytes`)
          parts.push(part as Uint8Array)
        }
      } catch (cause) {
        signal.throwIfAborted()
        if (cause instanceof UserError) throw cause
        throw failed('no answer', cause)
      }
      return Buffer.concat(parts)
    })
  }
}

function withoutSecrets(source: string): string {
  if (!URL.canParse(source)) return 'a URL of the config'
  const { protocol, host, pathname } = new URL(source)
  return `${protocol}//${host}${pathname}`
}

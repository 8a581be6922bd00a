/** Why a registry does not hand out an image. */
export type PullProblem = 'not-found' | 'unauthorized' | 'timeout'

/** How long podman waits for a registry that says nothing, in milliseconds (Go's dialer). */
export const DIAL_TIMEOUT = 30_000

/**
 * What podman 5 says when it cannot pull.
 *
 * @param image with a tag or a digest
 * @param why a {@link PullProblem}, or what the registry is to say
 */
export function pullFailure(image: string, why: string): string {
  const { registry, repository, version } = partsOf(image)
  const reading = `reading manifest ${version} in ${registry}/${repository}`
  const says = (text: string) => `initializing source docker://${image}: ${text}`
  switch (why as PullProblem) {
    case 'not-found':
      return says(`${reading}: manifest unknown`)
    case 'unauthorized':
      return says(`${reading}: unauthorized: access to the requested resource is not authorized`)
    case 'timeout':
      return says(`pinging container registry ${registry}: Get "https://${registry}/v2/": dial tcp: i/o timeout`)
    default:
      return says(why)
  }
}

/** A name without a registry is one of Docker Hub's. */
function partsOf(image: string): { registry: string; repository: string; version: string } {
  const [, name = image, version = 'latest'] = /^(.*?)[:@]([^/]*)$/.exec(image) ?? []
  const [first = '', ...rest] = name.split('/')
  const hasRegistry = rest.length > 0 && /[.:]|^localhost$/.test(first)
  return hasRegistry
    ? { registry: first, repository: rest.join('/'), version }
    : { registry: 'docker.io', repository: rest.length > 0 ? name : `library/${name}`, version }
}

/** Reason for a failed pull. */
type PullProblem = 'not-found' | 'unauthorized' | 'timeout'

/** Milliseconds until podman gives up on a registry that does not answer (timeout of Go's dialer). */
export const REGISTRY_DIAL_TIMEOUT = 30_000

/**
 * The message of podman 5 for a failed pull.
 *
 * @param image with a tag or a digest
 * @param why a {@link PullProblem}, or the registry's own message
 */
export function pullFailure(image: string, why: string): string {
  const { registry, repository, version } = splitImageName(image)
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

/** Parts of a reference. A name without a registry is on Docker Hub. */
function splitImageName(image: string): { registry: string; repository: string; version: string } {
  const [, name = image, version = 'latest'] = /^(.*?)[:@]([^/]*)$/.exec(image) ?? []
  const [first = '', ...rest] = name.split('/')
  const hasRegistry = rest.length > 0 && /[.:]|^localhost$/.test(first)
  return hasRegistry
    ? { registry: first, repository: rest.join('/'), version }
    : { registry: 'docker.io', repository: rest.length > 0 ? name : `library/${name}`, version }
}

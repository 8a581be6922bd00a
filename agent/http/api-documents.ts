/** Documents at the roots of the agent's API. Links have no trailing slash although the routes do. */

interface ApiLink {
  href: string
  rel: string
  type?: string
}

interface VersionLinks {
  id: 'v1'
  links: ApiLink[]
}

function v1(base: string): VersionLinks {
  return {
    id: 'v1',
    links: [
      { href: `${base}/v1`, rel: 'self' },
      { href: 'https://docs.openstack.org/ironic-python-agent/', rel: 'describedby', type: 'text/html' },
    ],
  }
}

/** @param base root of the agent's API, without trailing slash */
export function rootDocument(base: string) {
  return {
    name: 'OpenStack Ironic Python Agent API',
    description: 'Ironic Python Agent is a provisioning agent for OpenStack Ironic',
    versions: [v1(base)],
    default_version: v1(base),
  }
}

export function versionDocument(base: string) {
  const collection = (name: string): ApiLink[] => [
    { href: `${base}/v1/${name}`, rel: 'self' },
    { href: `${base}/${name}`, rel: 'bookmark' },
  ]
  return {
    commands: collection('commands'),
    status: collection('status'),
    media_types: [{ base: 'application/json', type: 'application/vnd.openstack.ironic-python-agent.v1+json' }],
    ...v1(base),
  }
}

export interface ResourceLink {
  readonly href: string
  readonly rel: string
  readonly type?: string
}

/** Links to the address that the client used. A bookmark is the same without the version. */
export class Links {
  /** `http://host:port`, no trailing slash. */
  readonly base: string

  constructor(base: string) {
    this.base = base
  }

  href(path: string): string {
    return `${this.base}/v1/${path}`
  }

  self(path: string): ResourceLink {
    return { href: this.href(path), rel: 'self' }
  }

  /** The pair that every resource carries. */
  pair(path: string): [ResourceLink, ResourceLink] {
    return [this.self(path), { href: `${this.base}/${path}`, rel: 'bookmark' }]
  }
}

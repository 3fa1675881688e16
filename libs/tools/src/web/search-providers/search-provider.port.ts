export interface SearchQuery {
  readonly query: string;
  /** Requested number of results. */
  readonly count: number;
  readonly freshness?: 'day' | 'week' | 'month' | 'year' | undefined;
}

export interface SearchHit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

export interface SearchRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Search engine: builds its request, and reads its response. Pure. */
export interface SearchProvider {
  readonly name: string;
  readonly baseUrl: string;
  request(query: SearchQuery): SearchRequest;
  /** Undefined for an answer of another form. */
  hits(answer: unknown): readonly SearchHit[] | undefined;
}

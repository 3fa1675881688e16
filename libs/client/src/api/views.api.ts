import { ROUTES, type BodyInputOf, type SavedView } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';

/** Views of the list of calls that the key, or the person who has signed in, has saved. */
export class ViewsApi {
  constructor(private readonly http: HttpTransport) {}

  /** The last saved first. */
  async list(options: RequestOptions = {}): Promise<SavedView[]> {
    return (await this.http.request(ROUTES.listViews, options)).views;
  }

  /** Replaces a view of the same name. */
  put(name: string, search: BodyInputOf<typeof ROUTES.putView>['search'], options: RequestOptions = {}): Promise<SavedView> {
    return this.http.request(ROUTES.putView, { params: { name }, body: { search }, ...options });
  }

  delete(name: string, options: RequestOptions = {}): Promise<void> {
    return this.http.send(ROUTES.deleteView, { params: { name }, ...options });
  }
}

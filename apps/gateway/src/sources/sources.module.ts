import { Module } from '@nestjs/common';
import { GovernanceModule } from '../governance/governance.module.js';
import { BundlesController } from './bundles.controller.js';
import { BundlesService } from './bundles.service.js';
import { SourceAuthorizations } from './source-authorizations.service.js';
import { SourceCatalog } from './source-catalog.service.js';
import { SourcesController } from './sources.controller.js';
import { SourcesService } from './sources.service.js';

/** Tools that are not built in: their catalog, and the routes of their sources. */
@Module({
  imports: [GovernanceModule],
  controllers: [SourcesController, BundlesController],
  providers: [SourceCatalog, SourceAuthorizations, SourcesService, BundlesService],
  exports: [SourceCatalog],
})
export class SourcesModule {}

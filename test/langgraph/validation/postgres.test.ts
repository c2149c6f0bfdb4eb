import { postgresUnderTest } from "../../backends/locations.ts";
import { reusedPostgres } from "../../postgres/places.ts";
import { validateOn } from "./suite.ts";

validateOn({ ...postgresUnderTest, make: reusedPostgres() });

//! Members: object with wallets and ledger, query, mutation.

use std::sync::Arc;

use async_graphql::{Context, Enum, ID, InputObject, Object, SimpleObject};
use futures_util::TryFutureExt;

use super::{
    api::RequestId,
    charge::{ChargeObject, ContainerEnum, container},
    error::ApiError,
    guard,
    input::{self, UserError, unknown_value},
    loaders::{self, ChargeById, LedgerCountOf, LedgerOf, MemberById, WalletsOf},
    page::{Connection, Counter, Node, PageArgs},
    scalars::{DateTime, Long},
    schema::Services,
};
use crate::{
    charges::{self, Container, LedgerEntry, LedgerKind, Member, UpsertMemberError, Wallet},
    db::page::Keyset,
    types::parse_id,
};

/// A member, as the API shows it.
pub struct MemberObject(pub Member);

impl MemberObject {
    /// The member that a row of ours names, and that is there.
    pub(super) async fn load(ctx: &Context<'_>, key: MemberById) -> Result<Self, ApiError> {
        let found = loaders::load(ctx, key).await?;
        found.map(Self).ok_or_else(|| ApiError::internal("a row of a member that is not there"))
    }
}

/// Who buys can.
#[Object(name = "Member")]
impl MemberObject {
    /// Primary key.
    async fn id(&self) -> ID {
        self.0.id.into()
    }

    /// What operators know it by.
    async fn nickname(&self) -> Option<&str> {
        self.0.nickname.as_deref()
    }

    /// Its balances, one for each container.
    async fn wallets(&self, ctx: &Context<'_>) -> Result<Vec<WalletObject>, ApiError> {
        let wallets = loaders::load(ctx, WalletsOf(self.0.id)).await?.unwrap_or_default();
        let of = |container: &Container| {
            let credited = wallets.iter().find(|wallet| wallet.container == container.as_str());
            credited.cloned().unwrap_or_else(|| Wallet {
                member_id: self.0.id,
                container: container.as_str().to_owned(),
                charge_can: 0,
                bonus_can: 0,
            })
        };
        Ok(Container::ALL.iter().map(of).map(WalletObject).collect())
    }

    /// Every change of its balances, newest first. ADMIN, OPERATOR.
    async fn ledger(
        &self,
        ctx: &Context<'_>,
        first: Option<i32>,
        after: Option<String>,
        last: Option<i32>,
        before: Option<String>,
    ) -> Result<Connection<LedgerEntryObject>, ApiError> {
        guard::reader(ctx)?;
        let request = PageArgs { first, after, last, before }.request::<LedgerEntryObject>()?;
        let reads = loaders::reads(ctx)?;
        let page = loaders::load_by(Arc::clone(&reads), LedgerOf(self.0.id, request)).await?;
        let page = page.ok_or_else(|| ApiError::internal("a page that was not read"))?;
        let key = LedgerCountOf(self.0.id);
        let counter: Counter = Box::new(move || {
            let reads = Arc::clone(&reads);
            let count = async move { loaders::load_by(reads, key).await };
            Box::pin(count.map_ok(|count| input::counted(count.unwrap_or_default())))
        });
        Ok(Connection::new(page, LedgerEntryObject, counter))
    }
}

/// A wallet, as the API shows it.
pub struct WalletObject(Wallet);

/// A member's balances of one container.
#[Object(name = "Wallet")]
impl WalletObject {
    /// Which.
    async fn container(&self) -> Result<ContainerEnum, ApiError> {
        container(&self.0.container)
    }

    /// Can that was bought.
    async fn charge_can(&self) -> Result<Long, ApiError> {
        Long::new(self.0.charge_can).ok_or_else(|| unknown_value("balance"))
    }

    /// Can that promotions gave.
    async fn bonus_can(&self) -> Result<Long, ApiError> {
        Long::new(self.0.bonus_can).ok_or_else(|| unknown_value("balance"))
    }
}

/// Which balance an entry changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "LedgerKind", remote = "LedgerKind")]
pub enum LedgerKindEnum {
    /// What was bought.
    Charge,
    /// What promotions gave.
    Bonus,
}

/// A ledger entry, as the API shows it.
pub struct LedgerEntryObject(pub LedgerEntry);

impl Node for LedgerEntryObject {
    const LIST: &'static str = "ledger";

    fn keyset(&self) -> Keyset {
        Keyset { at: self.0.created_at, id: self.0.id }
    }
}

/// A change of a balance. Append-only.
#[Object(name = "LedgerEntry")]
impl LedgerEntryObject {
    /// Primary key.
    async fn id(&self) -> ID {
        self.0.id.into()
    }

    /// Of which wallet.
    async fn container(&self) -> Result<ContainerEnum, ApiError> {
        container(&self.0.container)
    }

    /// Which balance.
    async fn kind(&self) -> Result<LedgerKindEnum, ApiError> {
        LedgerKind::parse(&self.0.kind).map(Into::into).ok_or_else(|| unknown_value("ledger kind"))
    }

    /// By how much it grew.
    async fn can(&self) -> Result<Long, ApiError> {
        Long::new(self.0.can).ok_or_else(|| unknown_value("can"))
    }

    /// What it was then.
    async fn balance_after(&self) -> Result<Long, ApiError> {
        Long::new(self.0.balance_after).ok_or_else(|| unknown_value("balance"))
    }

    /// What it was credited for.
    async fn charge(&self, ctx: &Context<'_>) -> Result<ChargeObject, ApiError> {
        let found = loaders::load(ctx, ChargeById(self.0.charge_id)).await?;
        found.map(ChargeObject).ok_or_else(|| ApiError::internal("an entry of a charge that is not there"))
    }

    /// When.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }
}

/// Reads of members.
#[derive(Default)]
pub struct MemberQuery;

#[Object]
impl MemberQuery {
    /// One member; null if there is none. Any role.
    async fn member(&self, ctx: &Context<'_>, id: ID) -> Result<Option<MemberObject>, ApiError> {
        guard::any_role(ctx)?;
        let id = input::id(&["id"], &id)?;
        let mut conn = Services::of(ctx)?.db.read().await.map_err(input::failed)?;
        Ok(charges::find_member(&mut conn, id).await.map_err(input::failed)?.map(MemberObject))
    }
}

/// A member to be made or renamed.
#[derive(Debug, InputObject)]
pub struct MemberInput {
    /// The id that the member service knows it by; without one, a new member is made.
    pub id: Option<ID>,
    /// 1 to 100 characters.
    pub nickname: String,
}

/// What became of a member's mutation.
#[derive(SimpleObject)]
pub struct MemberPayload {
    /// The member.
    pub member: Option<MemberObject>,
    /// Why it was refused.
    pub user_errors: Vec<UserError>,
}

impl MemberPayload {
    fn invalid(error: UserError) -> Self {
        Self { member: None, user_errors: vec![error] }
    }
}

/// Changes of members.
#[derive(Default)]
pub struct MemberMutation;

#[Object]
impl MemberMutation {
    /// Makes a member, or renames the one with this id. SERVICE, ADMIN (audited). With an id the same again has no second
    /// effect; without one each call makes a member.
    async fn upsert_member(&self, ctx: &Context<'_>, input: MemberInput) -> Result<MemberPayload, ApiError> {
        let service = guard::service(ctx)?;
        let id = match input.id.as_ref().map(|id| parse_id(id)).transpose() {
            Ok(id) => id,
            Err(error) => {
                return Ok(MemberPayload::invalid(UserError::invalid(&["id"], format!("id {error}"))));
            }
        };
        let input = charges::MemberInput { id, nickname: input.nickname };
        match Services::of(ctx)?.charges.upsert_member(&service, input, RequestId::of(ctx)).await {
            Ok(member) => Ok(MemberPayload { member: Some(MemberObject(member)), user_errors: Vec::new() }),
            Err(UpsertMemberError::InvalidInput { field, message }) => {
                Ok(MemberPayload::invalid(UserError::invalid(&[field], message)))
            }
            Err(UpsertMemberError::Database(error)) => Err(input::failed(error)),
        }
    }
}
